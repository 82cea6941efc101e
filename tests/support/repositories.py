"""Real git repositories for tests."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from backproof.adapters.git import Store

    Opened = Callable[["Repository | Path"], Store]

DATE = "2026-01-02T03:04:05+00:00"


@dataclass(frozen=True)
class Repository:
    """A real git repository in a folder of the test."""

    folder: Path

    def git(self, *args: str, stdin: str = "") -> str:
        env = {
            **os.environ,
            "GIT_AUTHOR_NAME": "Ann Author",
            "GIT_AUTHOR_EMAIL": "ann@example.org",
            "GIT_AUTHOR_DATE": DATE,
            "GIT_COMMITTER_NAME": "Cam Committer",
            "GIT_COMMITTER_EMAIL": "cam@example.org",
            "GIT_COMMITTER_DATE": DATE,
        }
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-C", str(self.folder), *args],
            env=env,
            input=stdin.encode(),
            check=True,
            capture_output=True,
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def commit(self, message: str, files: dict[str, str | bytes | None]) -> str:
        """Write files (None deletes), commit all, return the hash."""
        for name, content in files.items():
            path = self.folder / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--allow-empty", "-F", "-", stdin=message)
        return self.git("rev-parse", "HEAD")

    def switch(self, name: str, start: str = "HEAD") -> None:
        self.git("checkout", "--quiet", "-B", name, start)
