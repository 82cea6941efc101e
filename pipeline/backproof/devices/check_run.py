"""Sends checks to the target interpreter and reads their results."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from platformdirs import user_cache_path
from pydantic import ValidationError

from backproof.adapters import proc
from backproof.adapters.answers import AnswerPipes
from backproof.adapters.environment import build_environment
from backproof.core.errors import TargetError
from backproof.core.model import describe_problems
from backproof.core.redaction import redact_json, redact_written
from backproof.devices.check_result import CheckResult
from backproof.devices.lent_packages import link_packages
from backproof.rundir.ledger import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Arm
    from backproof.devices.protocol import Device, Session
    from backproof.kit.plan import Check

_SCHEMA = 4
"""Of the request; target/backproof_target/request.py reads it."""
_LINES = 2
"""Of an answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckEnvironment:
    """The place where checks run: the target's interpreter, the device, the arm that is in place there.

    `env` is what the service adds to Backproof's environment; `files` are absolute paths of the patch's installed files;
    `work` is an evidence folder, which gets `<name>.json` and `<name>.log` of each job; `operator_source` is the user's own
    copy of the device operators' source, where there is one.
    """

    python: Path
    env: Mapping[str, str]
    kit: Path
    device: Device
    arm: Arm
    files: Sequence[str]
    work: Path
    operator_source: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shadow:
    """Another version of one installed file: `file`, in a folder that a process has before the target's own path."""

    folder: Path
    file: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckJob:
    """One check under one operator model.

    `only` are ids of tests, instead of those that the plan selects; with `stop` it ends at the first test that fails.
    """

    name: str
    check: Check
    operators: dict[str, Any] | None
    cover: bool = False
    shadow: Shadow | None = None
    only: tuple[str, ...] = ()
    stop: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletedCheck:
    """The result of a job, its file, and the command that made it."""

    result: CheckResult
    file: Path
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Request:
    """What was asked, and the nonce that its result must repeat.

    `work` is the evidence folder, `room` one that says nothing of the run: the process has the latter alone.
    """

    job: CheckJob
    work: Path
    room: Path
    nonce: str
    command: str

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
    with proc.open_room() as room:
        request, answers = _write_request(environment, job, room), AnswerPipes(1)
        argv = [*_script_argv(environment), str(room / "request.json"), str(answers.handles[0])]
        done = _run_target(
            environment, argv, room, timeout=job.check.timeout, tee=request.file(".log"), answers=answers
        )
        return _read_result(request, done, answers.list_lines(0))


def run_batch(
    environment: CheckEnvironment, jobs: Sequence[CheckJob], *, parallel: int
) -> list[CompletedCheck | TargetError]:
    """Run several checks, each in a process of its own, forked from one that has imported what all of them need.

    Returns:
        One entry per job, in order; a job without a result is an error of that job alone.
    """
    with proc.open_room() as room:
        requests = [_write_request(environment, job, room / str(at)) for at, job in enumerate(jobs)]
        answers = AnswerPipes(len(jobs))
        rows = [_describe_job(request, handle) for request, handle in zip(requests, answers.handles, strict=True)]
        batch = room / "batch.json"
        batch.write_text(json.dumps({"jobs": rows, "parallel": parallel}), encoding="utf-8")
        argv = [*_script_argv(environment), "--batch", str(batch)]
        longest = sum(job.check.timeout for job in jobs) + 60
        log = environment.work / "batch.log"
        done = _run_target(environment, argv, room, timeout=longest, tee=log, answers=answers)
        for request in requests:
            proc.copy_redacted(request.file(".log"), request.room / "log")
    return [_read_or_error(request, done, answers.list_lines(at)) for at, request in enumerate(requests)]


def _describe_job(request: _Request, handle: int) -> dict[str, Any]:
    return {
        "request": str(request.room / "request.json"),
        "log": str(request.room / "log"),
        "timeout": request.job.check.timeout,
        "answer": handle,
    }


def _read_or_error(request: _Request, done: proc.Completed, lines: Sequence[bytes]) -> CompletedCheck | TargetError:
    try:
        return _read_result(request, done, lines)
    except TargetError as error:
        return error


def _write_request(environment: CheckEnvironment, job: CheckJob, room: Path) -> _Request:
    """Write it where the process reads it, and keep a copy: a person can run that again."""
    again = environment.work / f"{job.name}.request.json"
    command = proc.format_command([*_script_argv(environment), str(again)])
    request = _Request(job=job, work=environment.work, room=room, nonce=secrets.token_hex(8), command=command)
    request.file(".json").unlink(missing_ok=True)
    text = json.dumps(_build_request(environment, request), indent=1)
    for place in (room / "request.json", again):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return request


def _build_request(environment: CheckEnvironment, request: _Request) -> dict[str, Any]:
    job = request.job
    file = str((environment.kit / job.check.file).resolve())
    return {
        "schema": _SCHEMA,
        "nonce": request.nonce,
        "device": environment.device.NAME,
        "session": environment.device.TRAITS.session,
        "check": {"id": job.check.id, "file": file, "select": job.check.select, "only": job.only},
        "operators": _build_operators(environment, job),
        "files": [*environment.files, *([str(job.shadow.file)] if job.shadow else [])],
        "ahead": [str(job.shadow.folder)] if job.shadow else [],
        "cover": job.cover,
        "stop": job.stop,
        "carried": [str(link_packages(environment.work.parent))],
        "work": str(request.room / "work"),
    }


def _build_operators(environment: CheckEnvironment, job: CheckJob) -> dict[str, Any] | None:
    if job.operators is None or not environment.operator_source:
        return job.operators
    cache = user_cache_path("backproof") / "operators"
    return {**job.operators, "source": environment.operator_source, "cache": str(cache)}


def _script_argv(environment: CheckEnvironment) -> list[str]:
    return [str(environment.python), str(Path(str(resources.files("backproof"))) / "target" / "run_check.py")]


def _run_target(
    environment: CheckEnvironment, argv: list[str], room: Path, *, timeout: float, tee: Path, answers: AnswerPipes
) -> proc.Completed:
    own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHOME": None}
    env = build_environment({**environment.env, **own})
    return proc.run_process(argv, cwd=room, env=env, timeout=timeout, tee=tee, answers=answers)


def _read_result(request: _Request, done: proc.Completed, lines: Sequence[bytes]) -> CompletedCheck:
    """Read the answer: a line that the process did not finish, then, where it did, its result."""
    try:
        results = [CheckResult.model_validate_json(line) for line in lines]
        result = results[-1]
    except (IndexError, ValidationError) as error:
        raise _explain_missing(request, done, error) from error
    if done.code == proc.TIMED_OUT and result.error:
        raise _explain_missing(request, done)
    if len(results) > _LINES or {item.nonce for item in results} != {request.nonce}:
        raise TargetError(
            f"check {request.job.check.id}: its answer is not the one that was asked for",
            why=f"the process gave {len(results)} lines of {_LINES} at most, or another's nonce",
            next_step="look for what writes to open handles in the check and in the target, then run again",
        )
    content = redact_json(result.model_dump(mode="json", by_alias=True), redact_written)
    file = request.file(".json")
    write_atomic(file, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return CompletedCheck(result=CheckResult.model_validate(content), file=file, command=request.command)


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
        next_step=f"read {request.file('.log')}; `{request.command}` runs it again",
    )
