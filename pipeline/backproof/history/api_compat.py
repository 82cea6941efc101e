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
    """One call in lines that the pick brought."""

    path: str
    line: int
    name: str
    bare: bool
    owner: str
    positional: int
    keywords: frozenset[str]
    open_ended: bool


def find_suspect_calls(picker: Picker, change: Change, base: str, head: str, *, drop: Drop) -> tuple[str, ...]:
    """One sentence for each call that the tree `head` cannot serve, with file and line."""
    calls = [
        call
        for path in _list_python_paths(picker, base, head, drop)
        for call in _find_new_calls(picker, base, head, path)
    ]
    names = sorted({call.name for call in calls if _NAME.fullmatch(call.name)})[:_MOST]
    if not names:
        return ()
    main, release = (_collect_signatures(picker, tree, names) for tree in (change.after, head))
    found = (_judge_call(call, main.get(call.name, ()), release.get(call.name, ())) for call in calls)
    return tuple(dict.fromkeys(each for each in found if each))


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
    for node, owner in _list_owned_calls(tree, ""):
        if isinstance(node, ast.Call) and not fresh.isdisjoint(
            range(node.lineno, (node.end_lineno or node.lineno) + 1)
        ):
            call = _read_call(node, path, owner)
            if call is not None and not (call.bare and not call.owner and call.name in shadowed):
                yield call


def _list_owned_calls(node: ast.AST, owner: str) -> Iterator[tuple[ast.AST, str]]:
    """Every node with the class that it stands in."""
    for child in ast.iter_child_nodes(node):
        yield child, owner
        yield from _list_owned_calls(child, child.name if isinstance(child, ast.ClassDef) else owner)


def _parse_module(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _list_bound_names(tree: ast.Module) -> set[str]:
    """Names that a file binds as arguments or variables: a call of these is not a call of a function of that name."""
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
        positional=sum(not isinstance(each, ast.Starred) for each in node.args),
        keywords=frozenset(each.arg for each in node.keywords if each.arg),
        open_ended=any(isinstance(each, ast.Starred) for each in node.args)
        or any(not each.arg for each in node.keywords),
    )


def _collect_signatures(picker: Picker, tree: str, names: Sequence[str]) -> dict[str, tuple[Definition, ...]]:
    """Every definition of these names in a tree; one grep finds the files, so that few are parsed."""
    pattern = rf"(def|class) +({'|'.join(names)})\b"
    done = picker.store.run_git("grep", "-l", "-z", "-E", pattern, tree, "--", keep=1 << 26)
    found: dict[str, list[Definition]] = {}
    for row in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        path = row.partition(":")[2]
        module = _parse_module(picker.objects.read_file(tree, path) or b"") if path.endswith(".py") else None
        for each in read_signatures(module) if module else ():
            if each.name in names:
                found.setdefault(each.name, []).append((path, each))
    return {name: tuple(each) for name, each in found.items()}


def _judge_call(call: NewCall, main: Sequence[Definition], release: Sequence[Definition]) -> str | None:
    where = f"{call.path}:{call.line}: {call.name}(...)"
    main, release = _find_nearest(call, main, release)
    if not any(_takes_call(each, call) for _, each in main) or any(_takes_call(each, call) for _, each in release):
        return None
    if release:
        return f"{where}: {release[0][1].find_refusal(call.positional, call.keywords)}; main's version takes this call"
    # A method of some object may come from anywhere; a plain name or a method of `self` must be there.
    return f"{where}: the release does not define {call.name}; main does" if call.bare else None


def _find_nearest(
    call: NewCall, main: Sequence[Definition], release: Sequence[Definition]
) -> tuple[Sequence[Definition], Sequence[Definition]]:
    """The definitions that the call means: those in its own file and class where both sides have one, else all."""
    own = [[row for row in rows if row[0] == call.path and row[1].owner == call.owner] for rows in (main, release)]
    return (own[0], own[1]) if call.bare and all(own) else (main, release)


def _takes_call(signature: Signature, call: NewCall) -> bool:
    return call.open_ended or not signature.find_refusal(call.positional, call.keywords)
