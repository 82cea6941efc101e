"""A repository for the time of one command: names become commits, and picks are tried."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.adapters.scratch import open_scratch
from backproof.core.errors import PlanError
from backproof.history import branches
from backproof.history.picks import Picker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backproof.kit import plan


@dataclass(frozen=True, kw_only=True, slots=True)
class BranchRef:
    """What a name for a branch stands for: its own name, the whole ref (or a revision), and the commit."""

    name: str
    ref: str
    commit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A repository to ask, with a store of Backproof's own for what is tried."""

    source: Source
    picker: Picker
    say: Callable[[str], None]

    def resolve_commit(self, name: str) -> str:
        """Return the full hash of what the user named: a commit, a branch or a tag.

        Raises:
            PlanError: it is none of these.
        """
        sha = self.picker.store.resolve_commit(name)
        try:
            return sha or self.source.resolve_branch(name)
        except PlanError as error:
            raise PlanError(
                f"{name}: no such commit, branch or tag",
                why=f"{self.source.name} does not have it (or the short hash is ambiguous); {error.why}",
                next_step="give the full hash, or fetch it into that repository",
            ) from error

    def resolve_kit_commit(self, kit: plan.Plan, name: str) -> str:
        """Return the commit that a kit names; a reconstruction stands for upstream's own where that is not here."""
        store = self.picker.store
        if store.resolve_commit(name):
            return self.resolve_commit(name)
        reconstruction = branches.find_reconstruction(store, self.source, kit.upstream.pull, name)
        if reconstruction is None:
            return self.resolve_commit(name)
        self.say(f"{name}: a reconstruction stands for upstream's own commit")
        return reconstruction

    def resolve_branch(self, name: str) -> str:
        """Return the commit that `find_branch` finds."""
        return self.find_branch(name).commit

    def find_branch(self, name: str) -> BranchRef:
        """Find a branch, a tag or a revision; a branch wins over a hash that it could be short for.

        Raises:
            PlanError: the name means nothing here.
        """
        ref, commit = self.source.find_branch(name)
        if ref != f"refs/heads/{name}":
            self.say(f"{name}: {ref} at {commit[:12]}")
        return BranchRef(name=branches.shorten_ref(ref) or ref.removeprefix("refs/tags/"), ref=ref, commit=commit)


@contextmanager
def open_repository(repo: str, say: Callable[[str], None], *, mainline: int | None = None) -> Iterator[Repository]:
    """Open a repository, a path or a URL, with a private store that is gone when the block ends.

    Args:
        repo: the path or URL.
        say: for people: which ref a name stands for, and what takes longer than it should.
        mainline: for merge commits, see `Picker`.
    """
    source = Source.open(repo)
    with open_scratch() as folder:
        store = Store.create(folder / "store.git", source, lazy=True)
        with Picker(store, say=say, mainline=mainline) as picker:
            yield Repository(source=source, picker=picker, say=say)
