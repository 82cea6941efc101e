"""A repository for the time of one command: where names become commits and picks are simulated."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.core.errors import PlanError
from backproof.history import branches
from backproof.history.picks import Picker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backproof.kit import plan


@dataclass(frozen=True, kw_only=True, slots=True)
class Repository:
    """A repository to ask, with a store of Backproof's own for what is simulated."""

    source: Source
    picker: Picker
    say: Callable[[str], None]

    def resolve_commit(self, name: str) -> str:
        """The full hash of what the user named: a commit, a branch or a tag.

        Raises:
            PlanError: it is none of these.
        """
        found = self.picker.store.resolve_commit(name)
        try:
            return found or self.source.resolve_branch(name)
        except PlanError as error:
            raise PlanError(
                f"{name}: no such commit, branch or tag",
                why=f"{self.source.name} does not have it (or the short hash is ambiguous); {error.why}",
                next_step="give the full hash, or fetch it into that repository",
            ) from error

    def resolve_kit_commit(self, kit: plan.Plan, name: str) -> str:
        """As `commit`, for a name in a kit: where upstream's own commit is not there, a reconstruction stands for it."""
        store = self.picker.store
        made = (
            None
            if store.resolve_commit(name)
            else branches.find_reconstruction(store, self.source, kit.upstream.pull, name)
        )
        if made:
            self.say(f"{name}: a reconstruction stands for upstream's own commit")
        return made or self.resolve_commit(name)

    def resolve_branch(self, name: str) -> str:
        """The commit of a branch, or of what else the name means; a branch wins over a hash that it could be short for.

        Raises:
            PlanError: the name means nothing here.
        """
        try:
            return self.source.resolve_branch(name)
        except PlanError:
            commit = self.picker.store.resolve_commit(name)
            if commit is None:
                raise
            return commit


@contextmanager
def open_repository(repo: str, say: Callable[[str], None]) -> Iterator[Repository]:
    """Open a repository, a path or a URL, with a private store that is gone when the block ends."""
    source = Source.open(repo)
    with tempfile.TemporaryDirectory(prefix="backproof-") as folder:
        store = Store.create(Path(folder) / "store.git", source)
        with Picker(store, say=say) as picker:
            yield Repository(source=source, picker=picker, say=say)
