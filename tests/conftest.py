"""Fixtures of every test: no leaking environment, no state outside its folder, real git repositories."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.adapters.git import Source, Store
from backproof.app import demo
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from checkout import KIT
from repositories import Repository

if TYPE_CHECKING:
    from repositories import Opened

pytest_plugins = ["github_fixtures", "npu_host"]


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


@pytest.fixture(scope="session")
def target_python() -> Path:
    """The interpreter that has CPU torch, Triton and the real release; made once in the user's cache folder."""
    named = os.environ.get("BACKPROOF_TARGET_PYTHON")
    if named:
        return Path(named)
    the_plan = load_plan(KIT, DEVICES)
    assert the_plan.target is not None
    return demo.make_environment(the_plan, the_plan.target, _say)


@pytest.fixture(scope="session")
def target_upstream(target_python: Path) -> Path:
    """A repository made from the release's own files, with the kit's series."""
    the_plan = load_plan(KIT, DEVICES)
    assert the_plan.target is not None
    assert target_python.exists()
    return demo.make_repository(the_plan, the_plan.target, KIT, _say)


@pytest.fixture(autouse=True)
def _own_world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable that steers git, GitHub or colours; state and cache in a folder of the test."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "GITHUB_", "BACKPROOF_")) and name != "BACKPROOF_TARGET_PYTHON":
            monkeypatch.delenv(name)
    for name in ("GH_TOKEN", "FORCE_COLOR", "NO_COLOR", "PYTHONPATH", "CI"):
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


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    """A store of ours over a repository, as the commands have it that only ask."""

    def make(repository: Repository | Path) -> Store:
        folder = repository if isinstance(repository, Path) else repository.folder
        return Store.create(tmp_path / f"store-{folder.name}", Source.open(str(folder)), lazy=True)

    return make


@pytest.fixture
def old_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git on PATH that says it is 2.34 and refuses what 2.34 did not have."""
    real = shutil.which("git")
    wrapper = tmp_path / "old" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        "#!/bin/sh\n"
        'for each in "$@"; do case "$each" in\n'
        '--version) echo "git version 2.34.1"; exit 0 ;;\n'
        '--write-tree) echo "usage: git merge-tree <base-tree> <branch1> <branch2>" >&2; exit 129 ;;\n'
        "esac; done\n"
        f'exec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
