"""What every test gets: no leaking environment, no state outside its folder, real git repositories."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

DATE = "2026-01-02T03:04:05+00:00"


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable that steers git, GitHub or colours; state and cache in a folder of the test."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITHUB_", "BACKPROOF_")) and name != "BACKPROOF_TARGET_PYTHON":
            monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "NO_COLOR", "PYTHONPATH", "CI"):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(home / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


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


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """A repository with a branch `main` and one commit."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    repository = Repository(folder)
    repository.git("init", "--quiet", "-b", "main")
    repository.commit("start", {"pkg/a.py": "x = 1\ny = 2\nz = 3\n", "README.md": "hello\n"})
    return repository
