"""A worktree of our store, for what git does only in one."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked, run_git

if TYPE_CHECKING:
    from backproof.adapters import proc

FALLBACK_IDENTITY = ("Backproof", "backproof@localhost")

_SPARSE = ("core.sparseCheckout=true", "core.sparseCheckoutCone=false")


@dataclass(frozen=True, kw_only=True, slots=True)
class Worktree:
    """A worktree of ours with a detached HEAD."""

    folder: Path
    sparse: bool = False
    """Only some paths are written out. Set with each command: `git sparse-checkout` would rewrite our store's config."""

    def run_git(self, *args: str, stdin: bytes = b"") -> proc.Completed:
        settings = (*_read_identity(), *(_SPARSE if self.sparse else ()))
        return run_git("-C", str(self.folder), *args, stdin=stdin, settings=settings)

    def read_head(self) -> str:
        return checked(self.run_git("rev-parse", "HEAD"), "the worktree has no HEAD").text.strip()

    def write_only(self, pattern: str) -> None:
        """Write out the paths of HEAD that match; the others stay in the index alone."""
        place = ("rev-parse", "--path-format=absolute", "--git-path", "info/sparse-checkout")
        file = Path(checked(self.run_git(*place), "no git folder").text.strip())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{pattern}\n", encoding="utf-8")
        checked(self.run_git("read-tree", "-mu", "HEAD"), "the worktree cannot be written")


def _read_identity() -> tuple[str, ...]:
    """Return who commits, as git settings: the user's own identity where there is one; git keeps the author of a pick."""
    name = os.environ.get("GIT_COMMITTER_NAME") or _read_setting("user.name") or FALLBACK_IDENTITY[0]
    email = os.environ.get("GIT_COMMITTER_EMAIL") or _read_setting("user.email") or FALLBACK_IDENTITY[1]
    return (f"user.name={name}", f"user.email={email}")


@functools.cache
def _read_setting(key: str) -> str:
    return run_git("config", "--get", key, own=False).text.strip()
