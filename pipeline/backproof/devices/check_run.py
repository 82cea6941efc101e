"""Sends checks to the target interpreter and reads their results."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from backproof.adapters import proc
from backproof.core.errors import TargetError
from backproof.core.model import describe_problems
from backproof.devices.check_result import CheckResult
from backproof.devices.lent_packages import link_packages

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Arm
    from backproof.devices.protocol import Device, Session
    from backproof.kit.plan import Check

_SCHEMA = 3
"""Of the request; target/backproof_target/request.py reads it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckEnvironment:
    """The place where checks run: the target's interpreter, the device, the arm that is in place there.

    `env` is what the service adds to Backproof's environment; `files` are absolute paths of the patch's installed files;
    `work` is an evidence folder, which gets `<name>.json` and `<name>.log` of each job.
    """

    python: Path
    env: Mapping[str, str]
    kit: Path
    device: Device
    arm: Arm
    files: Sequence[str]
    work: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Shadow:
    """Another version of one installed file: `file`, in a folder that a process has before the target's own path."""

    folder: Path
    file: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckJob:
    """One check under one operator model; with `stop` it ends at the first test that fails."""

    name: str
    check: Check
    operators: dict[str, Any] | None
    cover: bool = False
    shadow: Shadow | None = None
    stop: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletedCheck:
    """The result of a job, its file, and the command that made it."""

    result: CheckResult
    file: Path
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Request:
    """What was asked, and the nonce that its result must repeat."""

    job: CheckJob
    work: Path
    nonce: str

    def file(self, ending: str) -> Path:
        return self.work / f"{self.job.name}{ending}"


class CheckTimeoutError(TargetError):
    """A check was stopped because its time was over: nothing else is known of it."""


def run_jobs(
    environment: CheckEnvironment, jobs: Sequence[CheckJob], session: Session
) -> list[CompletedCheck | TargetError]:
    """Run several checks as the device allows: side by side from one process, or each alone with device logs of its own."""
    if environment.device.TRAITS.forks:
        return run_batch(environment, jobs, parallel=environment.device.TRAITS.parallel)
    return [_run_alone(environment, job, session) for job in jobs]


def _run_alone(environment: CheckEnvironment, job: CheckJob, session: Session) -> CompletedCheck | TargetError:
    # Device logs of its own for each process: an earlier one's fault must not be taken for this one's.
    own = session.prepare_process(environment.arm, job.name).env
    try:
        return run_check(replace(environment, env={**environment.env, **own}), job)
    except TargetError as error:
        return error


def run_check(environment: CheckEnvironment, job: CheckJob) -> CompletedCheck:
    """Run one check in a process of its own.

    Raises:
        TargetError: the process ended without a result.
    """
    request = _write_request(environment, job)
    done = _run_target(
        environment, str(request.file(".request.json")), timeout=job.check.timeout, tee=request.file(".log")
    )
    return _read_result(request, done)


def run_batch(
    environment: CheckEnvironment, jobs: Sequence[CheckJob], *, parallel: int
) -> list[CompletedCheck | TargetError]:
    """Run several checks, each in a process of its own, forked from one that has imported what all of them need.

    Returns:
        One entry per job, in order; a job without a result is an error of that job alone.
    """
    requests = [_write_request(environment, job) for job in jobs]
    batch = environment.work / "batch.json"
    rows = [
        {
            "request": str(request.file(".request.json")),
            "log": str(request.file(".log")),
            "timeout": request.job.check.timeout,
        }
        for request in requests
    ]
    batch.write_text(json.dumps({"jobs": rows, "parallel": parallel}, indent=1), encoding="utf-8")
    longest = sum(job.check.timeout for job in jobs) + 60
    done = _run_target(environment, "--batch", str(batch), timeout=longest, tee=environment.work / "batch.log")
    return [_read_or_error(request, done) for request in requests]


def _read_or_error(request: _Request, done: proc.Completed) -> CompletedCheck | TargetError:
    try:
        return _read_result(request, done)
    except TargetError as error:
        return error


def _write_request(environment: CheckEnvironment, job: CheckJob) -> _Request:
    request = _Request(job=job, work=environment.work, nonce=secrets.token_hex(8))
    environment.work.mkdir(parents=True, exist_ok=True)
    request.file(".json").unlink(missing_ok=True)
    text = json.dumps(_build_request(environment, request), indent=1)
    request.file(".request.json").write_text(text, encoding="utf-8")
    return request


def _build_request(environment: CheckEnvironment, request: _Request) -> dict[str, Any]:
    job = request.job
    file = str((environment.kit / job.check.file).resolve())
    return {
        "schema": _SCHEMA,
        "nonce": request.nonce,
        "arm": environment.arm.value,
        "device": environment.device.NAME,
        "session": environment.device.TRAITS.session,
        "check": {"id": job.check.id, "file": file, "select": job.check.select},
        "operators": job.operators,
        "files": [*environment.files, *([str(job.shadow.file)] if job.shadow else [])],
        "ahead": [str(job.shadow.folder)] if job.shadow else [],
        "cover": job.cover,
        "stop": job.stop,
        "carried": [str(link_packages(environment.work.parent))],
        "work": str(request.file(".work")),
        "result": str(request.file(".json")),
    }


def _run_target(environment: CheckEnvironment, *args: str, timeout: float, tee: Path) -> proc.Completed:
    script = Path(str(resources.files("backproof"))) / "target" / "run_check.py"
    env = {**environment.env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHOME": None}
    argv = [str(environment.python), str(script), *args]
    return proc.run_process(argv, cwd=environment.work, env=proc.build_environment(env), timeout=timeout, tee=tee)


def _read_result(request: _Request, done: proc.Completed) -> CompletedCheck:
    try:
        result = CheckResult.model_validate_json(request.file(".json").read_bytes())
    except (OSError, ValidationError) as error:
        raise _explain_missing(request, done, error) from error
    if done.code == proc.TIMED_OUT and result.error:
        raise _explain_missing(request, done)
    if result.nonce != request.nonce:
        raise TargetError(
            f"check {request.job.check.id}: the result is not of this run",
            why="its nonce differs",
            next_step="run again",
        )
    return CompletedCheck(result=result, file=request.file(".json"), command=done.command)


def _explain_missing(request: _Request, done: proc.Completed, error: Exception | None = None) -> TargetError:
    check = request.job.check
    output = " ".join((done.error_text or done.text).split())[-1000:]
    late = done.code == proc.TIMED_OUT
    why = f"it was stopped after {check.timeout:.0f} s" if late else f"it ended with code {done.code}: {output}"
    if isinstance(error, ValidationError):
        why += f"; its result cannot be read: {describe_problems(error)}"
    return (CheckTimeoutError if late else TargetError)(
        f"check {check.id}: the target interpreter gave no result",
        why=why,
        next_step=f"read {request.file('.log')}; `{done.command}` runs it again",
    )
