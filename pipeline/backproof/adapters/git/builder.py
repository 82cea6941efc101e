"""A new repository made from files and mails: the demo's local upstream."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked, run_git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class RepositoryBuilder:
    """A new repository with fixed dates, so that the same files give the same hashes."""

    folder: Path
    date: str

    @classmethod
    def create(cls, folder: Path, *, date: str) -> RepositoryBuilder:
        """Create an empty one; what an earlier, killed attempt left is removed."""
        shutil.rmtree(folder, ignore_errors=True)
        checked(run_git("init", "--quiet", str(folder)), f"{folder}: cannot be created")
        return cls(folder=folder, date=date)

    def _run_git(self, what: str, *args: str) -> str:
        identity = ("user.name=Backproof demo", "user.email=demo@backproof.invalid")
        dates = {"GIT_AUTHOR_DATE": self.date, "GIT_COMMITTER_DATE": self.date}
        return checked(run_git("-C", str(self.folder), *args, settings=identity, env=dates), what).text.strip()

    def commit_all(self, message: str, *, branch: str) -> None:
        """Commit every file, ignored or not, on a new branch."""
        self._run_git(f"{branch}: cannot be created", "checkout", "--quiet", "--orphan", branch)
        self._run_git("the files cannot be added", "add", "--all", "--force")
        self._run_git("the files cannot be committed", "commit", "--quiet", "--message", message)

    def apply_series(self, mails: Sequence[Path], *, ref: str) -> None:
        """Apply mails on top of the branch and name the result; the branch stays where it is."""
        branch = self._run_git("no branch", "symbolic-ref", "--short", "HEAD")
        self._run_git("cannot leave the branch", "checkout", "--quiet", "--detach")
        series = ("am", "--quiet", "--committer-date-is-author-date", *(str(mail.absolute()) for mail in mails))
        self._run_git("the kit's series does not apply to the release", *series)
        self._run_git(f"{ref}: cannot be set", "update-ref", ref, "HEAD")
        self._run_git("cannot return to the branch", "checkout", "--quiet", branch)
