"""Several jobs on one host: a run waits for what another one has, as long as it was told, and says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import ExitCode
from backproof.install.overlay import OverlaySession
from plain_job import PlainJob, make_job

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    return make_job(tmp_path_factory.mktemp("busy") / "job")


@pytest.fixture
def other_run(job: PlainJob) -> Iterator[OverlaySession]:
    session = OverlaySession.open(job.target.site, owner="the other run")
    yield session
    session.close()


@pytest.mark.usefixtures("other_run")
def test_without_patience_a_taken_target_is_an_error_at_once(job: PlainJob) -> None:
    done = job.run()
    assert done.returncode == ExitCode.ERROR
    assert "another run works on this environment" in done.stdout
    assert "waiting for" not in done.stderr


@pytest.mark.usefixtures("other_run")
def test_patience_has_an_end(job: PlainJob) -> None:
    done = job.backproof(*job.arguments(), "--wait", "0.2")
    assert done.returncode == ExitCode.ERROR
    assert done.stderr.count("waiting for at most 0 s: ") == 1
    assert "another run works on this environment" in done.stdout


def test_a_run_goes_on_when_the_other_one_ends(job: PlainJob) -> None:
    other_run = OverlaySession.open(job.target.site, owner="the other run")
    command = [str(Path(sys.executable).with_name("backproof")), *job.arguments(), "--wait", "300"]
    waiting = subprocess.Popen(command, cwd=job.folder, env=job.environment(), stderr=subprocess.PIPE, text=True)
    with waiting:
        assert waiting.stderr is not None
        assert any("waiting for at most 300 s: " in line for line in waiting.stderr), "it never waited"
        other_run.close()
        rest = waiting.stderr.read()
    assert waiting.returncode == ExitCode.PASS, rest
