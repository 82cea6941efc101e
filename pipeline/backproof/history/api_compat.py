"""Calls that a clean pick brings and that the release's version of the function does not take.

Only what main's version takes and the release's does not is reported: the fix worked on main, so a call that neither
takes is our misreading. Text merges cleanly around a changed signature, and no conflict says so.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.history.signatures import Signature, read_signatures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.history.picks import Change, Drop, Picker

    Definition = tuple[str, Signature]

_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST = 400
"""Names searched at once; a change with more calls is a rewrite, not a fix."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NewCall:
    """A call in lines that the pick brought."""

    path: str
    line: int
    name: str
    bare: bool
    owner: str
    positional: int
    keywords: frozenset[str]
    open_ended: bool


def find_suspect_calls(picker: Picker, change: Change, base: str, head: str, *, drop: Drop) -> tuple[str, ...]:
    """Return one sentence for each call that the tree `head` cannot serve, with file and line."""
    calls = [
        call
        for path in _list_python_paths(picker, base, head, drop)
        for call in _find_new_calls(picker, base, head, path)
    ]
    names = sorted({call.name for call in calls if _NAME.fullmatch(call.name)})[:_MOST]
    if not names:
        return ()
    main, release = (_collect_signatures(picker, tree, names) for tree in (change.after, head))
    sentences = (_judge_call(call, main.get(call.name, ()), release.get(call.name, ())) for call in calls)
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def _list_python_paths(picker: Picker, base: str, head: str, drop: Drop) -> list[str]:
    pairs = picker.diff_trees(base, head).items()
    return [path for path, (_, new) in pairs if new is not None and path.endswith(".py") and not drop(path)]


def _find_new_calls(picker: Picker, base: str, head: str, path: str) -> Iterator[NewCall]:
    after = picker.objects.read_file(head, path) or b""
    before = Counter((picker.objects.read_file(base, path) or b"").split(b"\n"))
    fresh: set[int] = set()
    for number, line in enumerate(after.split(b"\n"), 1):
        if before[line] > 0:
            before[line] -= 1
        else:
            fresh.add(number)
    tree = _parse_module(after)
    if tree is None:
        return
    shadowed = _list_bound_names(tree)
    for node, owner in _walk_with_owner(tree, ""):
        if isinstance(node, ast.Call) and not fresh.isdisjoint(
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
        ):
            call = _read_call(node, path, owner)
            if call is not None and not (call.bare and not call.owner and call.name in shadowed):
                yield call


def _walk_with_owner(node: ast.AST, owner: str) -> Iterator[tuple[ast.AST, str]]:
    """Yield every node with the class that it stands in."""
    for child in ast.iter_child_nodes(node):
        yield child, owner
        yield from _walk_with_owner(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _parse_module(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _list_bound_names(tree: ast.Module) -> set[str]:
    """Return what a file binds as arguments or variables: a call of these is no call of a function of that name."""
    names = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | set(dir(builtins))


def _read_call(node: ast.Call, path: str, owner: str) -> NewCall | None:
    target = node.func
    own = (
        isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in {"self", "cls"}
    )
    if not isinstance(target, ast.Name | ast.Attribute):
        return None
    return NewCall(
        path=path,
        line=node.lineno,
        name=target.id if isinstance(target, ast.Name) else target.attr,
        bare=isinstance(target, ast.Name) or own,
        owner=owner if own else "",
        positional=sum(not isinstance(argument, ast.Starred) for argument in node.args),
        keywords=frozenset(argument.arg for argument in node.keywords if argument.arg),
        open_ended=any(isinstance(argument, ast.Starred) for argument in node.args)
        or any(not argument.arg for argument in node.keywords),
    )


def _collect_signatures(picker: Picker, tree: str, names: Sequence[str]) -> dict[str, tuple[Definition, ...]]:
    """Return every definition of these names in a tree; one grep finds the files, so that few are parsed."""
    pattern = rf"(def|class) +({'|'.join(names)})\b"
    done = picker.store.run_git("grep", "-l", "-z", "-E", pattern, tree, "--", keep=1 << 26)
    definitions: dict[str, list[Definition]] = {}
    for row in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        path = row.partition(":")[2]
        module = _parse_module(picker.objects.read_file(tree, path) or b"") if path.endswith(".py") else None
        for signature in read_signatures(module) if module else ():
            if signature.name in names:
                definitions.setdefault(signature.name, []).append((path, signature))
    return {name: tuple(rows) for name, rows in definitions.items()}


def _judge_call(call: NewCall, main: Sequence[Definition], release: Sequence[Definition]) -> str | None:
    where = f"{call.path}:{call.line}: {call.name}(...)"
    main, release = _find_nearest(call, main, release)
    if not any(_takes_call(signature, call) for _, signature in main) or any(
        _takes_call(signature, call) for _, signature in release
    ):
        return None
    if release:
        return f"{where}: {release[0][1].find_refusal(call.positional, call.keywords)}; main's version takes this call"
    # A method of some object may come from anywhere; a plain name or a method of `self` must be there.
    return f"{where}: the release does not define {call.name}; main does" if call.bare else None


def _find_nearest(
    call: NewCall, main: Sequence[Definition], release: Sequence[Definition]
) -> tuple[Sequence[Definition], Sequence[Definition]]:
    """Return the definitions that the call means: those in its file and class where both sides have one, else all."""
    own = [[row for row in rows if row[0] == call.path and row[1].owner == call.owner] for rows in (main, release)]
    return (own[0], own[1]) if call.bare and all(own) else (main, release)


def _takes_call(signature: Signature, call: NewCall) -> bool:
    return call.open_ended or not signature.find_refusal(call.positional, call.keywords)
