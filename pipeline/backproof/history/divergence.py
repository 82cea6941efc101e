"""The two histories behind an explanation: what a fix stands on, and what only the release has."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from backproof.adapters.git.log import find_merge_base, read_log
from backproof.core.errors import HostError
from backproof.history.changed_paths import ChangedPaths
from backproof.history.equivalents import Equivalents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.equivalents import Equivalent
    from backproof.history.picks import Picker


class Divergence:
    """The history between a release commit and the parent of a fix."""

    def __init__(self, picker: Picker, *, fix: str, release: str) -> None:
        self.picker = picker
        self.store = picker.store
        self.fix = fix
        self.release = release
        parents = picker.objects.read_commit(fix).parents
        self.parent = parents[0] if parents else None
        self.paths_of = ChangedPaths(picker)
        if picker.store.read_boundary() and (
            self.parent is None or find_merge_base(self.store, release, self.parent) is None
        ):
            raise cut_history_error()

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

    def read_commits(self, shas: Sequence[str]) -> dict[str, CommitInfo]:
        if not shas:
            return {}
        return {commit.sha: commit for commit in read_log(self.store, *shas, options=("--no-walk=unsorted",))}

    @functools.cached_property
    def equivalents(self) -> Equivalents:
        commits = self.read_release_log()
        self.paths_of.read_range([commit.sha for commit in commits], *self.own_range)
        return Equivalents(self.store, commits, paths_of=self.paths_of)

    def find_equivalent(self, commit: CommitInfo) -> Equivalent | None:
        return self.equivalents.find(commit, deep=True)


def cut_history_error() -> HostError:
    """Return the error for a shallow clone: an answer from half a history would be a wrong one."""
    return HostError(
        "the history between the branches is cut off",
        why="the clone is shallow: it does not hold the commit that both branches come from",
        next_step="complete it with `git fetch --unshallow` (or `git fetch --deepen=1000`) and run again",
    )
