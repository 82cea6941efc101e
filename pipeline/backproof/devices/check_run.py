"""Sends checks to the target interpreter and reads what they found."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from backproof.adapters import proc
from backproof.core.errors import TargetError
from backproof.devices.check_result import CheckResult
from backproof.devices.lent_packages import carried

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Arm
    from backproof.kit.plan import Check


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """Where checks run: the target's interpreter, the device, the arm that is in place there.

    `env` is what the service adds to our environment; `files` are absolute paths of the patch's installed files; `work`
    is an evidence folder, which gets `<name>.json` and `<name>.log` of each job.
    """

    python: Path
    env: Mapping[str, str]
    kit: Path
    device: str
    arm: Arm
    files: Sequence[str]
    work: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One check under one operator model."""

    name: str
    check: Check
    emulator: dict[str, Any] | None
    cover: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a job found, the file that says so, and the command that made it."""

    result: CheckResult
    file: Path
    command: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sent:
    request: Path
    result: Path
    log: Path
    nonce: str


def run_check(bench: Bench, job: Job) -> Answer:
    """Run one check in a process of its own.

    Raises:
        TargetError: the process ended without a result.
    """
    sent = _write(bench, job)
    done = _call(bench, str(sent.request), timeout=job.check.timeout, tee=sent.log)
    return _read(sent, done, job)


def run_batch(bench: Bench, jobs: Sequence[Job], *, parallel: int) -> list[Answer | TargetError]:
    """Run several checks, each in a process of its own, forked from one that has imported what all of them need.

    Returns:
        One entry per job, in order; a job without a result is an error of that job alone.
    """
    sent = [_write(bench, job) for job in jobs]
    batch = bench.work / "batch.json"
    rows = [
        {"request": str(each.request), "log": str(each.log), "timeout": job.check.timeout}
        for each, job in zip(sent, jobs, strict=True)
    ]
    batch.write_text(json.dumps({"jobs": rows, "parallel": parallel}, indent=1), encoding="utf-8")
    longest = sum(job.check.timeout for job in jobs) + 60
    done = _call(bench, "--batch", str(batch), timeout=longest, tee=bench.work / "batch.log")
    return [_read_or_error(each, done, job) for each, job in zip(sent, jobs, strict=True)]


def _read_or_error(sent: _Sent, done: proc.Completed, job: Job) -> Answer | TargetError:
    try:
        return _read(sent, done, job)
    except TargetError as error:
        return error


def _write(bench: Bench, job: Job) -> _Sent:
    scratch = bench.work / f"{job.name}.work"
    scratch.mkdir(parents=True, exist_ok=True)
    sent = _Sent(
        request=bench.work / f"{job.name}.request.json",
        result=bench.work / f"{job.name}.json",
        log=bench.work / f"{job.name}.log",
        nonce=secrets.token_hex(8),
    )
    sent.result.unlink(missing_ok=True)
    request = {
        "schema": 1,
        "nonce": sent.nonce,
        "arm": bench.arm.value,
        "device": bench.device,
        "check": {
            "id": job.check.id,
            "file": str((bench.kit / job.check.file).resolve()),
            "select": job.check.select,
        },
        "emulator": job.emulator,
        "files": list(bench.files),
        "cover": job.cover,
        "carried": [str(carried(bench.work.parent))],
        "work": str(scratch),
        "result": str(sent.result),
        "case_limit": None,
    }
    sent.request.write_text(json.dumps(request, indent=1), encoding="utf-8")
    return sent


def _call(bench: Bench, *args: str, timeout: float, tee: Path) -> proc.Completed:
    script = Path(str(resources.files("backproof"))) / "target" / "run_check.py"
    env = {**bench.env, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHOME": None}
    argv = [str(bench.python), str(script), *args]
    return proc.run(argv, cwd=bench.work, env=proc.environment(env), timeout=timeout, tee=tee)


def _read(sent: _Sent, done: proc.Completed, job: Job) -> Answer:
    try:
        found = CheckResult.model_validate_json(sent.result.read_bytes())
    except (OSError, ValidationError) as error:
        raise _no_result(sent, done, job, error) from error
    if found.nonce != sent.nonce:
        raise TargetError(
            f"check {job.check.id}: the result is not of this run", why="its nonce differs", next_step="run again"
        )
    return Answer(result=found, file=sent.result, command=done.command)


def _no_result(sent: _Sent, done: proc.Completed, job: Job, error: Exception) -> TargetError:
    said = " ".join((done.error_text or done.text).split())[-1000:]
    why = f"it ended with code {done.code}: {said}"
    if done.code == proc.TIMED_OUT:
        why = f"it was stopped after {job.check.timeout:.0f} s"
    if isinstance(error, ValidationError):
        why += f"; its result cannot be read: {_brief(error)}"
    return TargetError(
        f"check {job.check.id}: the target interpreter gave no result",
        why=why,
        next_step=f"read {sent.log}; `{done.command}` runs it again",
    )


def _brief(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:5])
