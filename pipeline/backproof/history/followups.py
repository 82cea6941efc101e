"""Later commits on main that fix or revert a fix: a branch that takes the fix alone would lack them.

35 of 663 backports of vllm-ascend lack one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from backproof.history.equivalents import is_revert, read_pull_number
from backproof.history.records import FollowUp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backproof.adapters.git import CommitInfo

    Kind = Literal["revert", "revert of the revert", "fix", "mentions"]

_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
_FIXES = re.compile(r"(?im)^\s*(?:fixes|fix for|follow[- ]?up (?:of|to|for)):?\s+([0-9a-f]{7,40})\b")
_NUMBER = re.compile(r"(?:#|/pull/)(\d+)\b")
_REPAIRS = re.compile(r"(?i)\b(fix(?:e[sd])?|bug\s*fix|hot\s*fix|repair|regression|follow[- ]?up)\b")
_LIST = 6
"""A commit that names more pull requests than this is a release note, not a follow-up."""


def find_follow_ups(
    fix: CommitInfo, later: Iterable[CommitInfo], *, paths_of: Callable[[str], frozenset[str]]
) -> list[tuple[FollowUp, CommitInfo]]:
    """Return the commits of `later` (oldest first) that concern the fix."""
    pairs: list[tuple[FollowUp, CommitInfo]] = []
    reverts: dict[str, CommitInfo] = {}
    for commit in later:
        kind = _name_kind(fix, commit, reverts, paths_of)
        if kind in {"revert", "revert of the revert"}:
            reverts[commit.sha] = commit
        if kind is not None:
            pairs.append((FollowUp(commit=commit.sha, subject=commit.subject, kind=kind), commit))
    return pairs


def _name_kind(
    fix: CommitInfo, later: CommitInfo, reverts: dict[str, CommitInfo], paths_of: Callable[[str], frozenset[str]]
) -> Kind | None:
    if any(_reverts(revert, later) for revert in reverts.values()):
        return "revert of the revert"
    if _reverts(fix, later):
        return "revert"
    if fix.sha[:7] in later.message and any(fix.sha.startswith(name) for name in _FIXES.findall(later.message)):
        return "fix"
    if not _names_fix(fix, later) or not paths_of(later.sha) & paths_of(fix.sha):
        return None
    return "fix" if _REPAIRS.search(later.subject) else "mentions"


def _reverts(target: CommitInfo, commit: CommitInfo) -> bool:
    if any(target.sha.startswith(name) for name in _REVERTS.findall(commit.message)):
        return True
    # Squashed reverts lose the body that git writes; the quoted title remains.
    number = read_pull_number(target)
    return is_revert(commit) and (
        f'"{target.subject}"' in commit.subject or bool(number and f'(#{number})"' in commit.subject)
    )


def _names_fix(fix: CommitInfo, later: CommitInfo) -> bool:
    number = read_pull_number(fix)
    if str(number) not in later.message:
        return False
    numbers = set(_NUMBER.findall(later.message))
    return number is not None and str(number) in numbers and len(numbers) <= _LIST and read_pull_number(later) != number
