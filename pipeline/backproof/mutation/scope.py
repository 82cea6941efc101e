"""Where in a file mutants are made: the hunks of the fix, and what their lines rest on in the same function."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from backproof.mutation.changed_lines import Hunk

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SMALL = 16
"""Up to this many rows a fix that only holds for small inputs is kept."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """The lines to change, from 1, and the lines of functions in which calls are given the names that the fix sets."""

    lines: frozenset[int]
    names: frozenset[str]
    around: frozenset[int]


def find_scope(tree: ast.Module, changed: Collection[int]) -> Scope:
    """Return the changed lines and the assignments of names that they use."""
    lines, names, around = set(changed), set[str](), set[int]()
    for function in _list_functions(tree):
        touched = [node for node in ast.walk(function) if getattr(node, "lineno", 0) in changed]
        if not touched:
            continue
        used = {node.id for node in touched if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        names |= {node.id for node in touched if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        around |= set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
        lines.update(*(_list_lines(node) for node in ast.walk(function) if _assigns(node, used)))
    return Scope(lines=frozenset(lines), names=frozenset(names), around=frozenset(around))


def _list_functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def _assigns(node: ast.AST, names: set[str]) -> bool:
    if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(part, ast.Name) and part.id in names for target in targets for part in ast.walk(target))


def _list_lines(node: ast.AST) -> range:
    first = getattr(node, "lineno", 0)
    return range(first, (getattr(node, "end_lineno", None) or first) + 1)


def list_conditions(tree: ast.Module, hunk: Hunk) -> list[str]:
    """Return conditions on the parameters of the function that has the hunk: under each the fix could hold alone.

    An argument that may be left out, a number or boolean, and the size and type of the first tensor.
    """
    first, last = hunk.new[0] + 1, hunk.new[1]
    around = [node for node in _list_functions(tree) if node.lineno < first and last <= (node.end_lineno or 0)]
    if not around:
        return []
    arguments = around[-1].args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = dict(zip(reversed(plain), reversed(arguments.defaults), strict=False))
    defaults |= {name: value for name, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value}
    conditions = [f"{argument.arg} is None" for argument, value in defaults.items() if ast.unparse(value) == "None"]
    annotated = [
        (item.arg, ast.unparse(item.annotation)) for item in (*plain, *arguments.kwonlyargs) if item.annotation
    ]
    for name in (name for name, kind in annotated if kind in {"int", "bool"}):
        conditions += [name, f"not {name}"]
    tensor = next((name for name, kind in annotated if kind.endswith("Tensor")), None)
    sized = [f"{tensor}.shape[0] <= {_SMALL}", f"'float16' not in str({tensor}.dtype).split('.')"] if tensor else []
    return [*conditions, *sized]


def breaks_import(fixed: ast.Module, mutant: ast.Module) -> bool:
    """Tell whether the mutant lacks an import whose name it still uses, differs in imports alone, or has no code left."""
    lost = set(_list_imports(fixed)) - set(_list_imports(mutant))
    used = {node.id for node in ast.walk(mutant) if isinstance(node, ast.Name)}
    alike = _dump_code(fixed) == _dump_code(mutant)
    return bool(lost & used) or alike or not mutant.body


def _list_imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)


def _dump_code(tree: ast.Module) -> list[str]:
    return [ast.dump(node) for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
