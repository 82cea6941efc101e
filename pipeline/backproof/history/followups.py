"""Later commits on main that fix or revert a fix: a branch that takes the fix alone would lack them.

35 of 663 backports of vllm-ascend lack one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from backproof.history.records import FollowUp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.history.landings import Landings
    from backproof.history.picks import Picker

    Kind = Literal["revert", "revert of the revert", "fix", "mentions"]

_REPAIRS = re.compile(r"(?i)\b(fix(?:e[sd])?|bug\s*fix|hot\s*fix|repair|regression|follow[- ]?up)\b")


def find_follow_ups(picker: Picker, landings: Landings, fix: str, main: str) -> tuple[FollowUp, ...]:
    """Return the commits of main that concern the fix, oldest first; all are made tips of the index."""
    index = landings.index
    number = index.get_number(fix)
    kinds: dict[int, Kind] = {}
    for later, kind in (*_list_reverts(landings, number, "revert"), *_list_fixes(picker, landings, number)):
        if later > number and index.has(main, later):
            kinds.setdefault(later, kind)
    index.mark(index.read_sha(later) for later in kinds)
    commits = {later: landings.read(later).commit for later in sorted(kinds)}
    return tuple(
        FollowUp(commit=commit.sha, subject=commit.subject, kind=kinds[later]) for later, commit in commits.items()
    )


def _list_reverts(landings: Landings, number: int, kind: Kind) -> Iterator[tuple[int, Kind]]:
    for revert in landings.list_reverts(number):
        yield revert, kind
        yield from _list_reverts(landings, revert, "revert of the revert" if kind == "revert" else "revert")


def _list_fixes(picker: Picker, landings: Landings, number: int) -> Iterator[tuple[int, Kind]]:
    index, fix = landings.index, landings.read(number)
    for later in index.find_naming("cause", fix.commit.sha) + index.find_naming("followed", fix.commit.sha):
        names = landings.read(later).causes | landings.read(later).followed
        if number in map(index.resolve, names):
            yield later, "fix"
    paths = picker.list_paths(fix.commit.sha) if fix.pull else frozenset()
    for later in index.find_naming("named-pull", fix.pull) if fix.pull else ():
        commit = landings.read(later).commit
        if landings.read(later).pull != fix.pull and paths & picker.list_paths(commit.sha):
            yield later, "fix" if _REPAIRS.search(commit.subject) else "mentions"
