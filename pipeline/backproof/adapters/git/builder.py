"""A new repository made from files and mails: the demo's local upstream."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked, run_git

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.adapters import proc


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

    def _run_git(self, *args: str) -> proc.Completed:
        identity = ("user.name=Backproof demo", "user.email=demo@backproof.invalid")
        dates = {"GIT_AUTHOR_DATE": self.date, "GIT_COMMITTER_DATE": self.date}
        return run_git("-C", str(self.folder), *args, settings=identity, env=dates)

    def commit_all(self, message: str, *, branch: str) -> None:
        """Commit every file, ignored or not, on a new branch."""
        checked(self._run_git("checkout", "--quiet", "--orphan", branch), f"{branch}: cannot be created")
        checked(self._run_git("add", "--all", "--force"), "the files cannot be added")
        checked(self._run_git("commit", "--quiet", "--message", message), "the files cannot be committed")

    def apply_series(self, mails: Sequence[Path], *, ref: str) -> None:
        """Apply mails on top of the branch and name the result; the branch stays where it is."""
        branch = checked(self._run_git("symbolic-ref", "--short", "HEAD"), "no branch").text.strip()
        checked(self._run_git("checkout", "--quiet", "--detach"), "cannot leave the branch")
        checked(
            self._run_git(
                "am", "--quiet", "--committer-date-is-author-date", *(str(mail.absolute()) for mail in mails)
            ),
            "the kit's series does not apply to the release",
        )
        checked(self._run_git("update-ref", ref, "HEAD"), f"{ref}: cannot be set")
        checked(self._run_git("checkout", "--quiet", branch), "cannot return to the branch")
