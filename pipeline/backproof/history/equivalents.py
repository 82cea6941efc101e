"""Changes that a branch has already, under another hash.

The `cherry picked from commit` trailer is not enough: of 1379 release commits of vllm-ascend five carry it. Pull
request numbers and titles find most, patch ids and trees the rest; a landed change that was reverted does not count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.log import read_patch_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backproof.adapters.git import CommitInfo, Store

_QUOTED = re.compile(r"[(\[](?:from |pr )?(#\d+(?:(?:,|\s|and|&)+#\d+)*)[)\]]|(#\d+)\s*$", re.IGNORECASE)
"""Numbers on their own in a title; in the middle of a sentence they only say what the commit is about."""
_OWN_NUMBER = re.compile(r"\(#(\d+)\)\s*$")
_NUMBER = re.compile(r"(?:#|/pull/)(\d+)\b")
_PORTED = re.compile(
    r"(?i)(?:cherry[\s-]*pick\w*|back[\s-]*port\w*|port(?:ed|s)? (?:of|from)|same (?:as|with)|picked from"
    r"|original p(?:r|ull request)|sync\w* from)\W[^\n]{0,80}"
)
_TRAILER = re.compile(r"\(cherry picked from commit ([0-9a-f]{7,40})\)")
_REVERTS = re.compile(r"This reverts commit ([0-9a-f]{7,40})")
_TAGS = re.compile(r"^\s*(?:\[[^\]]*\]\s*|(?:cherry[\s-]*pick|back[\s-]*port)\s*:?\s*)+", re.IGNORECASE)
_NUMBERS = re.compile(r"\((?:from )?#\d+\)")
_VERSION = re.compile(r"(?i)(?:\b(?:in|on|for|to|of)\s+)?\bv?\d+\.\d+(?:\.\d+)?(?:rc\d*)?(?:-dev)?\b(?:\s+branch\b)?")
_NO_WORD = re.compile(r"\W+")
_SHORTEST_TITLE = 15
"""A shorter one ("fix ut") is the title of many changes."""

_LONG_TITLE = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class Equivalent:
    """The commit that brought a change to the branch, and the reason to think so."""

    commit: CommitInfo
    how: str


def read_pull_number(commit: CommitInfo) -> int | None:
    """Return the pull request that a commit of a squash-merging project came with."""
    number = _OWN_NUMBER.search(commit.subject)
    return int(number[1]) if number else None


def read_ported_numbers(commit: CommitInfo) -> frozenset[int]:
    """Return the pull requests that a commit says it ports."""
    if is_revert(commit):
        return frozenset()
    own = read_pull_number(commit)
    quoted = " ".join("".join(number) for number in _QUOTED.findall(_OWN_NUMBER.sub("", commit.subject)))
    numbers = {int(number) for number in _NUMBER.findall(quoted)}
    for line in commit.message.split("\n"):
        if "#" in line or "/pull/" in line:
            numbers |= {int(number) for phrase in _PORTED.findall(line) for number in _NUMBER.findall(phrase)}
    return frozenset(numbers - {own})


def normalize_title(commit: CommitInfo) -> str:
    """Return the subject without tags, numbers, versions and punctuation; empty when too short to tell changes apart."""
    text = _VERSION.sub(" ", _NUMBERS.sub(" ", _TAGS.sub("", commit.subject)))
    text = _NO_WORD.sub(" ", text).strip().lower()
    return f"{'revert ' if is_revert(commit) else ''}{text}" if len(text) >= _SHORTEST_TITLE else ""


def is_revert(commit: CommitInfo) -> bool:
    return commit.subject.lower().lstrip("[").startswith("revert") or "Revert " in commit.subject[:40]


class Equivalents:
    """An index of the commits that only the branch has, newest first, by what they have in common with commits of main."""

    def __init__(
        self, store: Store, commits: Iterable[CommitInfo], *, paths_of: Callable[[str], frozenset[str]]
    ) -> None:
        self._store = store
        self._paths_of = paths_of
        self._commits = {commit.sha: commit for commit in commits}
        self._reverted = {sha for commit in self._commits.values() for sha in self._list_reverted(commit)}
        self._by_number: dict[int, str] = {}
        self._by_title: dict[str, str] = {}
        self._by_trailer: dict[str, str] = {}
        self._patches: dict[str, str] = {}
        for commit in self._commits.values():
            if commit.sha not in self._reverted:
                self._index_commit(commit)

    def _list_reverted(self, commit: CommitInfo) -> list[str]:
        names = _REVERTS.findall(commit.message)
        return [sha for sha in self._commits for name in names if sha.startswith(name)]

    def _index_commit(self, commit: CommitInfo) -> None:
        own = read_pull_number(commit)
        for number in {*read_ported_numbers(commit), *([own] if own else [])}:
            self._by_number.setdefault(number, commit.sha)
        if title := normalize_title(commit):
            self._by_title.setdefault(title, commit.sha)
        for sha in _TRAILER.findall(commit.message):
            self._by_trailer.setdefault(sha[:7], commit.sha)

    def find(self, change: CommitInfo, *, deep: bool = False) -> Equivalent | None:
        """Return the branch's commit of a change; `deep` also compares patch ids."""
        if sha := self._by_trailer.get(change.sha[:7]):
            return self._make_equivalent(sha, "its cherry-pick trailer")
        own = read_pull_number(change)
        for number in [*([own] if own else []), *sorted(read_ported_numbers(change))]:
            if (sha := self._by_number.get(number)) and (number == own or self._read_own_number(sha) == number):
                return self._make_equivalent(sha, f"pull request #{number}")
        title = normalize_title(change)
        sha = self._by_title.get(title)
        # A short title is met twice; then the paths must agree too. A long one tells a change whose file was moved.
        if sha and (len(title) >= _LONG_TITLE or self._paths_of(sha) & self._paths_of(change.sha)):
            return self._make_equivalent(sha, "its title")
        return self._find_by_patch(change) if deep else None

    def _read_own_number(self, sha: str) -> int | None:
        return read_pull_number(self._commits[sha])

    def _make_equivalent(self, sha: str, how: str) -> Equivalent:
        return Equivalent(commit=self._commits[sha], how=how)

    def _find_by_patch(self, change: CommitInfo) -> Equivalent | None:
        """Compare patches; equal ones change equal paths, so that few commits need their patch computed."""
        paths = self._paths_of(change.sha)
        same = [sha for sha in self._commits if sha not in self._reverted and self._paths_of(sha) == paths]
        if not paths or not same:
            return None
        missing = [sha for sha in [change.sha, *same] if sha not in self._patches]
        self._patches.update(read_patch_ids(self._store, missing))
        patch = self._patches.get(change.sha)
        equal = next((sha for sha in same if patch and self._patches.get(sha) == patch), None)
        return self._make_equivalent(equal, "its patch id") if equal else None
