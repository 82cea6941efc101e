"""The changes that a branch has, under whatever hash, and those that were taken back there.

A change is on a branch when a commit there brings it and is not taken back: by a revert that is not taken back itself, and so
on. Reverts name the branch's own hash, the hash on main (a picked revert), a title or a pull request.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.log import read_patch_ids
from backproof.history.index import CommitIndex
from backproof.history.relations import Relations, plain_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.adapters.git import CommitInfo
    from backproof.history.picks import Picker

_LONG_TITLE = 35
"""A title of that length tells a change whose file was moved: a common file name is then enough."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Landing:
    """The commit that brought a change to a branch, and the reason to think so."""

    commit: CommitInfo
    how: str


class Landings:
    """What the tips of one repository have."""

    def __init__(self, picker: Picker, tips: Iterable[str]) -> None:
        self._picker = picker
        self._patches: dict[str, str] = {}
        self.index = CommitIndex(picker.store, tips)

    @functools.cache  # noqa: B019 - one object for each command
    def read(self, number: int) -> Relations:
        """Return what a commit says."""
        return Relations(self._picker.objects.read_commit(self.index.read_sha(number)))

    def find(self, change: str, tip: str, *, deep: bool = False) -> Landing | None:
        """Return the commit of a tip that brings a change; `deep` also compares patch ids. Both are tips of the index."""
        number = self.index.get_number(change)
        bringers = [*self._list_bringers(number), *(self._list_equal_patches(number, tip) if deep else ())]
        for bringer, how in bringers:
            if self.index.has(tip, bringer) and self.find_standing_revert(bringer, tip) is None:
                return Landing(commit=self.read(bringer).commit, how=how)
        return None

    def list_causes(self, change: str) -> list[str]:
        """Return the commits whose fault a change says it repairs, where they are here; they are made tips of the index."""
        names = self.read(self.index.get_number(change)).causes
        causes = [self.index.read_sha(number) for number in sorted(set(map(self.index.resolve, names)) - {0})]
        self.index.mark(causes)
        return causes

    def find_taken_back(self, change: str, tip: str) -> CommitInfo | None:
        """Return the commit that took a change back from a tip which had it and has it no more."""
        number = self.index.get_number(change)
        bringers = [bringer for bringer, _ in self._list_bringers(number) if self.index.has(tip, bringer)]
        reverts = [self.find_standing_revert(bringer, tip) for bringer in bringers]
        return self.read(max(filter(None, reverts))).commit if reverts and all(reverts) else None

    def describe_taken_back(self, change: str, tip: str, main: str | None) -> Iterator[str]:
        """Yield a sentence for main and one for a branch that took the change back."""
        for place, commit in (("main", main), ("the branch", tip)):
            if commit and (back := self.find_taken_back(change, commit)):
                yield f"{place} took this back in {back.sha[:12]} {back.subject}"

    @functools.cache  # noqa: B019 - one object for each command
    def find_standing_revert(self, number: int, tip: str) -> int | None:
        """Return the commit of a tip that takes another one back, and is not taken back itself."""
        reverts = (revert for revert in self.list_reverts(number) if self.index.has(tip, revert))
        return next((revert for revert in reverts if self.find_standing_revert(revert, tip) is None), None)

    @functools.cache  # noqa: B019 - one object for each command
    def list_reverts(self, number: int) -> tuple[int, ...]:
        """Return the later commits, on any tip, that say they take this one back."""
        own = self.read(number)
        shas = {own.commit.sha, *own.sources}
        siblings = {self.index.read_sha(other) for other in self.index.find_naming("source", *shas)}
        targets = {self.index.resolve(sha) for sha in {*shas, *siblings}} - {0}
        by_hash = self.index.find_naming("reverted", *shas, *siblings)
        by_name = self.index.find_naming("reverted-title", plain_title(own.title))
        by_name += self.index.find_naming("reverted-pull", *filter(None, [own.pull, *own.ported]))
        later = (revert for revert in sorted({*by_hash, *by_name}) if revert > number)
        # A hash tells more than a title, which two changes may have.
        named = ((revert, set(map(self.index.resolve, self.read(revert).reverted)) - {0}) for revert in later)
        return tuple(revert for revert, hashes in named if hashes & targets or (not hashes and revert in by_name))

    @functools.cache  # noqa: B019 - one object for each command
    def _list_bringers(self, number: int) -> tuple[tuple[int, str], ...]:
        """Return the commits, on any tip, that bring a change, the surest first."""
        own = self.read(number)
        bringers = {number: "the commit itself"}
        for other, how in (*self._list_picks(number), *self._list_by_number(own), *self._list_by_title(own)):
            if self.read(other).takes_back == own.takes_back:
                bringers.setdefault(other, how)
        return tuple(bringers.items())

    def _list_picks(self, number: int) -> Iterator[tuple[int, str]]:
        """Yield the picks of a commit, picks of these, and what it is a pick of itself."""
        waiting, seen = [number], {number}
        while waiting:
            sha = self.index.read_sha(waiting.pop())
            for pick in self.index.find_naming("source", sha):
                if pick not in seen and self.index.get_number(sha) in map(self.index.resolve, self.read(pick).sources):
                    seen.add(pick)
                    waiting.append(pick)
                    yield pick, "its cherry-pick trailer"
        sources = [self.index.resolve(name) for name in self.read(number).sources]
        if len(sources) == 1 and sources[0]:
            yield sources[0], "what it was picked from"

    def _list_by_number(self, own: Relations) -> Iterator[tuple[int, str]]:
        for pull in filter(None, [own.pull, *sorted(own.ported)]):
            for number in self.index.find_naming("pull", pull) + self.index.find_naming("ported", pull):
                if (pull == own.pull or self.read(number).pull == pull) and self._is_elsewhere(number, own):
                    yield number, f"pull request #{pull}"

    def _list_by_title(self, own: Relations) -> Iterator[tuple[int, str]]:
        title = own.change_title
        for number in self.index.find_naming("title", title) if title else ():
            other = self.read(number)
            if own.versions <= other.versions and self._is_elsewhere(number, own) and self._share_path(own, other):
                yield number, "its title"

    def _is_elsewhere(self, number: int, own: Relations) -> bool:
        """Tell whether a commit is none that the change stands on: an earlier one is another change."""
        return not self.index.has(own.commit.sha, number)

    def _share_path(self, own: Relations, other: Relations) -> bool:
        mine, theirs = (self._picker.list_paths(relations.commit.sha) for relations in (own, other))
        names = (frozenset(path.rsplit("/", 1)[-1] for path in paths) for paths in (mine, theirs))
        return bool(mine & theirs) or (len(own.change_title) >= _LONG_TITLE and bool(frozenset.intersection(*names)))

    def _list_equal_patches(self, number: int, tip: str) -> Iterator[tuple[int, str]]:
        """Yield the commits of a tip with the same patch: a pick keeps author and date, so that few need theirs computed."""
        own = self.read(number)
        same = self.index.find_naming("authored", own.authored)
        others = [other for other in same if self.index.has(tip, other) and self._is_elsewhere(other, own)]
        shas = {other: self.read(other).commit.sha for other in others}
        lacking = {own.commit.sha, *shas.values()} - self._patches.keys() if shas else ()
        self._patches.update(read_patch_ids(self._picker.store, sorted(lacking)))
        for other, sha in shas.items():
            if (patch := self._patches.get(sha)) and patch == self._patches.get(own.commit.sha):
                yield other, "its patch id"
