"""What every test gets: no leaking environment, no state outside its folder, real git repositories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path


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


@pytest.fixture
def upstream(tmp_path: Path) -> Repository:
    """A repository with a branch `main` and one commit."""
    folder = tmp_path / "upstream"
    folder.mkdir()
    repository = Repository(folder)
    repository.git("init", "--quiet", "-b", "main")
    repository.commit("start", {"pkg/a.py": "x = 1\ny = 2\nz = 3\n", "README.md": "hello\n"})
    return repository
