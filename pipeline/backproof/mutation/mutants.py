"""The wrong versions of one file of a fix, each different from the fixed one in one place and Python that compiles."""

from __future__ import annotations

import ast
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import libcst as cst
from libcst.metadata import BaseMetadataProvider, MetadataWrapper, PositionProvider

from backproof.mutation import changed_lines, scope
from backproof.mutation.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from backproof.mutation.changed_lines import Hunk
    from backproof.mutation.scope import Scope

_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One wrong version of a file.

    `id` stays as long as the file and the change stay; `before` and `after` are the first line that differs.
    """

    id: str
    path: str
    line: int
    operator: str
    before: str
    after: str
    source: bytes


def make_mutants(path: str, base: bytes, fixed: bytes) -> tuple[Mutant, ...]:
    """Return the mutants of one file of the fix, in the order of their lines.

    Args:
        path: in the repository.
        base: the file without the fix; empty for a file that the fix adds.
        fixed: the file with it.

    Raises:
        ValueError: the fixed file is not Python that can be read here.
    """
    before, after = (changed_lines.split_lines(data.decode("utf-8")) for data in (base, fixed))
    tree = ast.parse(fixed)
    changes = changed_lines.find_changes(before, after)
    hunks = changed_lines.join_changes(changes)
    seen = {ast.dump(tree)}
    mutants: list[Mutant] = []
    texts = [
        *_change_hunks(tree, before, after, changes, hunks),
        *_change_nodes(fixed, scope.find_scope(tree, set(changed_lines.list_numbers(hunks)))),
    ]
    for operator, text in texts:
        mutant = _parse(text)
        if mutant is None or scope.breaks_import(tree, mutant) or ast.dump(mutant) in seen:
            continue
        seen.add(ast.dump(mutant))
        mutants.append(_describe_mutant(path, operator, after, text))
    return tuple(sorted(mutants, key=lambda mutant: mutant.line))


def _parse(text: str) -> ast.Module | None:
    try:
        compile(tree := ast.parse(text), "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return tree


def _describe_mutant(path: str, operator: str, fixed: Sequence[str], text: str) -> Mutant:
    lines = changed_lines.split_lines(text)
    first = changed_lines.find_changes(fixed, lines)[0]
    before, after = (
        next((line.strip() for line in part if line.strip()), "")[:_SHOWN]
        for part in (fixed[slice(*first.old)], lines[slice(*first.new)])
    )
    key = hashlib.sha256(f"{path}\0{operator}\0{text}".encode()).hexdigest()[:8]
    source = text.encode()
    return Mutant(
        id=key, path=path, line=first.old[0] + 1, operator=operator, before=before, after=after, source=source
    )


def _change_hunks(
    tree: ast.Module, before: Sequence[str], after: Sequence[str], changes: Sequence[Hunk], hunks: Sequence[Hunk]
) -> Iterator[tuple[str, str]]:
    """Take each hunk and each change in it back, and let each hunk hold in a part of the cases only."""
    for hunk in (*hunks, *changes):
        yield "revert", "".join(hunk.revert(before, after))
    for hunk in hunks:
        for condition in scope.list_conditions(tree, hunk):
            yield "in-part", "".join(_hold_in_part(hunk, before, after, condition))


def _hold_in_part(hunk: Hunk, before: Sequence[str], after: Sequence[str], condition: str) -> list[str]:
    fixed, old = after[slice(*hunk.new)], before[slice(*hunk.old)]
    line = next((line for line in fixed if line.strip()), "")
    indent = line[: len(line) - len(line.lstrip())]
    inner = [f"    {line}" for line in fixed], [f"    {line}" for line in old]
    stretch = [f"{indent}if {condition}:\n", *inner[0], f"{indent}else:\n", *inner[1], f"{indent}    pass\n"]
    return [*after[: hunk.new[0]], *stretch, *after[hunk.new[1] :]]


def _change_nodes(fixed: bytes, where: Scope) -> Iterator[tuple[str, str]]:
    """Apply each operator to each node of the lines."""
    wrapper = MetadataWrapper(cst.parse_module(fixed), unsafe_skip_copy=True)
    walker = _Walker()
    wrapper.visit(walker)
    for node, line in walker.nodes:
        replacements = [(name, other) for name, make in OPERATORS.items() for other in make(node)]
        beside = (
            [("argument", other) for other in _mistake_arguments(node, where.names)] if line in where.around else []
        )
        for operator, other in (*(replacements if line in where.lines else ()), *beside):
            yield operator, _replace_node(wrapper.module, node, other)


def _replace_node(module: cst.Module, node: cst.CSTNode, other: cst.CSTNode) -> str:
    changed = module.deep_replace(node, other)
    return changed.code if isinstance(changed, cst.Module) else ""


def _mistake_arguments(node: cst.CSTNode, names: frozenset[str]) -> Iterator[cst.CSTNode]:
    """Hand a name that the fix sets to another argument of the call whose keyword ends in the same word, too."""
    arguments = [item for item in node.args if item.keyword] if isinstance(node, cst.Call) else []
    for given in (item for item in arguments if isinstance(item.value, cst.Name) and item.value.value in names):
        for other in arguments:
            if (
                other is not given
                and _last_word(other) == _last_word(given)
                and not other.value.deep_equals(given.value)
            ):
                yield node.with_deep_changes(other, value=given.value)


def _last_word(argument: cst.Arg) -> str:
    return argument.keyword.value.rpartition("_")[2] if argument.keyword else ""


class _Walker(cst.CSTVisitor):
    """Collects nodes with their first line; imports, annotations and decorators are left as they are."""

    METADATA_DEPENDENCIES: ClassVar[Collection[type[BaseMetadataProvider[object]]]] = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[tuple[cst.CSTNode, int]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, (cst.Import, cst.ImportFrom, cst.Annotation, cst.Decorator)):
            return False
        place = self.get_metadata(PositionProvider, node, None)
        if place is not None:
            self.nodes.append((node, place.start.line))
        return True
