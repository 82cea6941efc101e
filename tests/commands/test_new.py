"""The command as a user types it, without GitHub: what is printed and written, and how mistakes end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import backproof
import pytest
from backproof.cli import cli
from backproof.core.errors import BackproofError, ExitCode
from click.testing import CliRunner

from tests.scaffold.test_from_commits import fix, history

if TYPE_CHECKING:
    from repositories import Repository


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    monkeypatch.chdir(tmp_path)
    return history(tmp_path / "upstream")


def call(*args: Any, code: int = 0) -> str:
    done = CliRunner().invoke(cli, ["new", *map(str, args)])
    if isinstance(done.exception, BackproofError):
        assert done.exception.exit_code == code, done.exception
        return str(done.exception)
    assert done.exit_code == code, (done.output, done.exception)
    return done.output


def test_a_kit_from_commits(upstream: Repository) -> None:
    asked = ("--repo", upstream.folder, "--commit", fix(upstream), "--branch", "releases/v1")
    said = call(*asked)
    assert said.splitlines()[0] == "patches/5/plan.toml"
    assert "upstream.repo: " in said
    assert said.strip().endswith("backproof plan check patches/5")
    assert "already" in call(*asked, code=ExitCode.USAGE)
    call(*asked, "--id", "demo-5")
    assert Path("patches/demo-5/plan.toml").exists()


@pytest.mark.parametrize(
    ("args", "word"),
    [
        ((), "neither"),
        (("example/project#5", "--commit", "abcdef1"), "both"),
        (("--commit", "abcdef1", "--branch", "releases/v1"), "--repo"),
        (("--commit", "abcdef1", "--repo", "upstream"), "--branch"),
        (("example/project#5", "--repo", "upstream"), "--repo"),
        (("--commit", "abcdef1", "--repo", "nowhere", "--branch", "b"), "not a git repository"),
        (("--device", "gpu", "example/project#5"), "no such device"),
        (("--id", "../up", "example/project#5"), "id"),
        (("--release", "demo>=1", "example/project#5"), "--release"),
    ],
)
def test_a_mistake_ends_before_anything_is_written(upstream: Repository, args: tuple[str, ...], word: str) -> None:
    assert word in call(*args, code=ExitCode.USAGE)
    assert not Path("patches").exists()


def test_the_operators_of_a_new_kit_are_such_that_the_emulator_takes_them(upstream: Repository) -> None:
    where = ("--repo", upstream.folder, "--commit", fix(upstream), "--branch", "releases/v1", "--device", "emulator")
    assert "patches/5/operators.py" in call(*where)
    script = (
        "from types import SimpleNamespace\nfrom backproof_target import kit_operators\n"
        "asked = SimpleNamespace(file='patches/5/operators.py', model='plain', options={})\n"
        "print(kit_operators.load_operators(asked).record())"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(backproof.__file__).parent / "target")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=env)
    assert "'name': 'plain'" in done.stdout, done.stderr
