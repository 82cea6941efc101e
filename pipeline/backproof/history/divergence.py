"""What an explanation stands on: one fix, one release commit, and what each side has that the other lacks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from backproof.adapters.git.log import log, merge_base
from backproof.core.errors import HostError
from backproof.history.changed_paths import ChangedPaths
from backproof.history.equivalents import Landed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.equivalents import Match
    from backproof.history.picks import Simulator


class Ground:
    """The history between a release commit and the parent of a fix."""

    def __init__(self, simulator: Simulator, *, fix: str, release: str) -> None:
        self.simulator = simulator
        self.store = simulator.store
        self.fix = fix
        self.release = release
        parents = simulator.objects.commit(fix).parents
        self.parent = parents[0] if parents else None
        self.paths_of = ChangedPaths(simulator)
        if simulator.store.boundary() and (self.parent is None or merge_base(self.store, release, self.parent) is None):
            raise cut_history()

    @property
    def missing(self) -> tuple[str, ...]:
        """Revisions: what the fix stands on and the release lacks."""
        return (self.parent or self.release, f"^{self.release}")

    @property
    def own(self) -> tuple[str, ...]:
        """Revisions: what only the release has."""
        return (self.release, *([f"^{self.parent}"] if self.parent else []))

    def main_log(self, paths: Sequence[str] = (), *options: str) -> list[CommitInfo]:
        return log(self.store, *self.missing, paths=paths, options=options)

    def release_log(self, paths: Sequence[str] = (), *options: str) -> list[CommitInfo]:
        return log(self.store, *self.own, paths=paths, options=options)

    def commits(self, shas: Sequence[str]) -> dict[str, CommitInfo]:
        if not shas:
            return {}
        return {each.sha: each for each in log(self.store, *shas, options=("--no-walk=unsorted",))}

    @functools.cached_property
    def landed(self) -> Landed:
        commits = self.release_log()
        self.paths_of.read([each.sha for each in commits], *self.own)
        return Landed(self.store, commits, paths_of=self.paths_of)

    def landed_as(self, commit: CommitInfo) -> Match | None:
        return self.landed.find(commit, deep=True)


def cut_history() -> HostError:
    """An answer from half a history would be a wrong one."""
    return HostError(
        "the history between the branches is cut off",
        why="the clone is shallow: it does not hold the commit that both branches come from",
        next_step="complete it with `git fetch --unshallow` (or `git fetch --deepen=1000`) and run again",
    )
