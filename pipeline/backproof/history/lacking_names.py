"""Names and arguments that a clean pick uses and the release lacks: text merges around them, and no conflict says so.

Only what the release with the pick lacks, and neither the release alone nor main, is reported: the fix worked on main.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import Counter
from typing import TYPE_CHECKING

from backproof.adapters import pyrefly
from backproof.adapters.scratch import open_scratch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.adapters.pyrefly import LackingName
    from backproof.history.picks import Change, Drop, Picker

_NOT_CHECKED = "whether the release has the names that the fix uses was not checked: install backproof[names]"
_NOT_ALL_CHECKED = (
    "the names that a fix uses were checked on the first branches alone; `backproof history explain` checks one"
)
_MOST_SEARCHES, _MOST_CHECKS = 8, 2


def find_lacking_names(picker: Picker, change: Change, base: str, head: str, *, drop: Drop) -> tuple[str, ...]:
    """Return one sentence for each name that the tree `head` uses and lacks, with file and line; none without pyrefly.

    Args:
        picker: of the store that holds the trees.
        change: what the fix does on main.
        base: the release's tree.
        head: the release's tree with the pick.
        drop: paths that are left out.
    """
    reports = _check_tree(picker, head, base, drop)
    if not reports:
        return ()
    # Most picks end above: these two checks are for those that have something to be told apart.
    known = Counter((report.path, report.text) for report in _check_tree(picker, base, head, drop))
    main = {report.text for report in _check_tree(picker, change.after, change.before, drop)}
    sentences: list[str] = []
    for report in reports:
        known[report.path, report.text] -= 1
        if known[report.path, report.text] < 0 and report.text not in main:
            sentences.append(f"{report.path}:{report.line}: {report.text}; main has it")
    return tuple(dict.fromkeys(sentences))


def list_limits() -> tuple[str, ...]:
    """Return what is not checked here."""
    return () if pyrefly.is_installed() else (_NOT_CHECKED,)


def _check_tree(picker: Picker, tree: str, other: str, drop: Drop) -> list[LackingName]:
    """Check the Python files in which a tree differs from another one."""
    paths = list(_list_python_files(picker, other, tree, drop))
    if not paths or not pyrefly.is_installed():
        return []
    with open_scratch() as folder:
        picker.store.export_tree(tree, folder / "tree", suffixes=(".py", ".pyi"))
        return pyrefly.find_lacking_names(folder / "tree", paths)


def _list_python_files(picker: Picker, before: str, after: str, drop: Drop) -> Iterator[str]:
    for path, (_, new) in picker.objects.diff_trees(before, after).items():
        if new is not None and path.endswith(".py") and not drop(path):
            yield path


def _list_new_names(picker: Picker, change: Change, drop: Drop) -> frozenset[str]:
    """Return the names that a fix begins to use in its files, and does not define there."""
    names: set[str] = set()
    for path in _list_python_files(picker, change.before, change.after, drop):
        before, after = (picker.objects.read_file(tree, path) or b"" for tree in (change.before, change.after))
        try:
            used, bound = _read_names(ast.parse(after))
        except (SyntaxError, ValueError, RecursionError):
            continue
        names |= used - bound - {word.decode("utf-8", "replace") for word in re.findall(rb"\w+", before)}
    return frozenset(names - {"", "*", *dir(builtins)})


def _read_names(tree: ast.Module) -> tuple[set[str], set[str]]:
    used: set[str] = set()
    bound: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=name, ctx=ast.Load())
                | ast.Attribute(attr=name, ctx=ast.Load())
                | ast.keyword(arg=str(name))
            ):
                used.add(name)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
            case ast.ImportFrom(names=aliases, module=module):
                used.update([*(module or "").split("."), *(alias.name for alias in aliases)])
            case _:
                pass
    return used, bound


class NameChecks:
    """Checks of many picks, as a survey has them: a search first, a whole check where it finds a name missing.

    Only the first few are made: a whole check takes as long as a hundred picks. `explain` makes it always.
    """

    def __init__(self, picker: Picker, drop: Drop) -> None:
        self._picker = picker
        self._drop = drop
        self._names: dict[Change, frozenset[str]] = {}
        self._searches = _MOST_SEARCHES
        self._checks = _MOST_CHECKS

    @property
    def limits(self) -> tuple[str, ...]:
        """What was not checked."""
        cut = () if self._searches > 0 and self._checks > 0 else (_NOT_ALL_CHECKED,)
        return (*list_limits(), *cut)

    def find(self, change: Change, base: str, head: str) -> tuple[str, ...]:
        """Return what the tree `head` uses and lacks, as far as the change begins to use it."""
        if self._searches <= 0 or self._checks <= 0:
            return ()
        if change not in self._names:
            self._names[change] = _list_new_names(self._picker, change, self._drop)
        if not (names := self._names[change]):
            return ()
        self._searches -= 1
        if not _lacks_some(self._picker, names, base):
            return ()
        self._checks -= 1
        return find_lacking_names(self._picker, change, base, head, drop=self._drop)


def _lacks_some(picker: Picker, names: frozenset[str], tree: str) -> bool:
    """Tell whether a name stands in no Python file of a tree."""
    # A list of fixed strings takes git five times as long as one expression.
    words = rf"\b(?:{'|'.join(sorted(names))})\b"
    done = picker.store.run_git(
        "grep", "-h", "-o", "-P", words, tree, "--", "*.py", env={"GIT_LITERAL_PATHSPECS": "0"}, asks=[tree]
    )
    return not names <= set(done.text.split())
