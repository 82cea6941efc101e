"""The two histories behind an explanation: what a fix stands on, and what only the release has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.log import find_merge_base, read_log
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.landings import Landing, Landings
    from backproof.history.picks import Picker


class Divergence:
    """The history between a release commit and the parent of a fix."""

    def __init__(self, picker: Picker, landings: Landings, *, fix: str, release: str) -> None:
        self.picker = picker
        self.store = picker.store
        self.fix = fix
        self.release = release
        self.parent = picker.find_parent(picker.objects.read_commit(fix))
        self._landings = landings

    @property
    def missing_range(self) -> tuple[str, ...]:
        """The revisions that the fix stands on and the release lacks."""
        return (self.parent or self.release, f"^{self.release}")

    @property
    def own_range(self) -> tuple[str, ...]:
        """The revisions that only the release has."""
        return (self.release, *([f"^{self.parent}"] if self.parent else []))

    def read_main_log(self, paths: Sequence[str] = (), *options: str) -> list[CommitInfo]:
        return read_log(self.store, *self.missing_range, paths=paths, options=options)

    def read_release_log(self, paths: Sequence[str] = (), *options: str) -> list[CommitInfo]:
        return read_log(self.store, *self.own_range, paths=paths, options=options)

    def sort_oldest_first(self, shas: Iterable[str]) -> list[str]:
        """Return commits that the fix stands on, each behind its ancestors."""
        return sorted(shas, key=self._landings.index.get_number)

    def find_landings(self, shas: Sequence[str]) -> dict[str, Landing | None]:
        """Return what the release has of these commits, under whatever hash."""
        self._landings.index.mark(shas)
        return {sha: self._landings.find(sha, self.release, deep=True) for sha in shas}


def refuse_cut_history(picker: Picker, fix: str, release: str) -> None:
    """Raise HostError in a shallow clone that hides where both come from: an answer from half a history would be wrong."""
    if not picker.store.read_boundary():
        return
    parent = picker.find_parent(picker.objects.read_commit(fix))
    if parent is None or find_merge_base(picker.store, release, parent) is None:
        raise HostError(
            "the history between the branches is cut off",
            why="the clone is shallow: it does not hold the commit that both branches come from",
            next_step="complete it with `git fetch --unshallow` (or `git fetch --deepen=1000`) and run again",
        )
