"""Several requests in one go: torch and Triton are imported once, then each request gets a process of its own.

Importing them takes longer than most checks. Only what no arm and no kit changes is imported before the fork: the
target's files, the kit's operators and the stand-ins are loaded in the child, so requests cannot touch each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof_target import result
from backproof_target.answer import Answer
from backproof_target.caller import die_with_caller
from backproof_target.request import Request, RequestError, read_request

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOK = 0.02  # seconds between two looks at the children


@dataclass(frozen=True, kw_only=True)
class Job:
    """One request, where its answer and its output go, and how many seconds it may take."""

    request: Request
    answer: Answer
    log: Path
    timeout: float


def read_jobs(path: Path) -> tuple[list[Job], int]:
    """Read BATCH.json: the requests' files, and how many may run at once."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        jobs = [_run_job(item) for item in data["jobs"]]
        return jobs, max(1, int(data["parallel"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RequestError(f"{path}: {type(error).__name__}: {error}") from error


def _run_job(data: dict[str, Any]) -> Job:
    return Job(
        request=read_request(Path(data["request"])),
        answer=Answer(int(data["answer"])),
        log=Path(data["log"]),
        timeout=float(data["timeout"]),
    )


def run_all(jobs: Sequence[Job], parallel: int) -> None:
    """Run every job; one that dies or takes too long leaves the result that says so, and the others go on."""
    _import_what_all_share(jobs)
    waiting = list(jobs)
    running: dict[int, tuple[Job, float]] = {}
    while waiting or running:
        while waiting and len(running) < parallel:
            job = waiting.pop(0)
            running[_start_job(job, jobs)] = (job, time.monotonic())
        _reap_jobs(running)
        time.sleep(_LOOK)


def _import_what_all_share(jobs: Sequence[Job]) -> None:
    # Triton decides at import and at decoration whether kernels are interpreted.
    os.environ["TRITON_INTERPRET"] = "1"
    for folder in jobs[0].request.carried if jobs else ():
        sys.path.append(folder)
    for name in ("torch", "triton", "triton.language", "pytest", "_pytest.assertion", "_pytest.python"):
        with contextlib.suppress(ImportError):  # the child says what is missing, in its result
            __import__(name)


def _start_job(job: Job, jobs: Sequence[Job]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        die_with_caller()
        for other in jobs:
            if other is not job:
                other.answer.shut()
        _say_into(job.log)
        from backproof_target.session import run_session

        run_session(job.request, job.answer)
        code = 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _say_into(log: Path) -> None:
    handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    os.close(handle)


def _reap_jobs(running: dict[int, tuple[Job, float]]) -> None:
    for child, (job, since) in list(running.items()):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            del running[child]
            if os.WIFSIGNALED(status):
                _describe_death(job, "did-not-finish", f"signal {os.WTERMSIG(status)} ended the process")
        elif time.monotonic() - since > job.timeout:
            _kill_job(child)
            del running[child]
            _describe_death(job, "timed-out", f"stopped after {job.timeout:.0f} s")


def _kill_job(child: int) -> None:
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _describe_death(job: Job, what: str, why: str) -> None:
    answer = result.blank_result(job.request)
    answer["error"] = {"what": what, "trace": why}
    job.answer.put(answer)
