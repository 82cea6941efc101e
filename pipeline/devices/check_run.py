"""Sends one check to the target interpreter and reads what it found."""

from __future__ import annotations

import json
import secrets
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError

from pipeline.adapters import proc
from pipeline.errors import TargetError
from pipeline.model import Arm, Record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipeline.plan import Check

CARRIED = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
"""Pure-python packages of ours that a target may lack; it gets them from a folder at the end of its path."""


class Fault(Record):
    """One access that the device would refuse, or that would silently spoil a result."""

    kind: str
    task: int
    engine: str
    name: str
    argument: str | None = None
    row: int | None = None
    index: int | None = None
    owner: str | None = None
    offset: int | None = None
    extent: int | None = None
    text: str


class TestResult(Record):
    """One test of the check."""

    __test__ = False
    nodeid: str
    outcome: Literal["passed", "failed", "error", "skipped"]
    seconds: float = 0
    message: str = ""
    detail: str = ""
    faults: tuple[Fault, ...] = ()
    observations: dict[str, Any] = {}


class Loaded(Record):
    """A module of the patch as the check's process loaded it."""

    module: str
    file: str
    sha256: str
    source_sha256: str | None = None
    loader: str | None = None
    cached: str | None = None


class Launch(Record):
    """A kernel that was launched, with the hash of the source that was compiled."""

    kernel: str
    file: str
    first_line: int
    last_line: int
    source_sha256: str
    constexprs: tuple[dict[str, Any], ...] = ()
    count: int = 0


class CheckResult(Record):
    """The file that the check runner leaves."""

    schema_: Literal[1] = Field(alias="schema")
    nonce: str
    versions: dict[str, str] = {}
    loaded: tuple[Loaded, ...] = ()
    tests: tuple[TestResult, ...] = ()
    faults: dict[str, int] = {}
    launches: tuple[Launch, ...] = ()
    reached: dict[str, tuple[int, ...]] = {}
    limits: tuple[str, ...] = ()
    model: dict[str, Any] = {}
    pytest_exit: int | None = None
    error: dict[str, Any] | None = None


def run_check(
    *,
    python: Path,
    env: Mapping[str, str],
    kit: Path,
    check: Check,
    arm: Arm,
    device: str,
    emulator: dict[str, Any] | None,
    files: Sequence[str],
    work: Path,
    name: str,
    cover: bool = False,
) -> tuple[CheckResult, Path, str]:
    """Run one check in the target interpreter.

    Args:
        env: what the service adds to our environment.
        files: absolute paths of the patch's installed files.
        work: an evidence folder; gets `<name>.json` and `<name>.log`.

    Returns:
        What it found, the file that says so, and the command.

    Raises:
        TargetError: the process ended without a result.
    """
    work.mkdir(parents=True, exist_ok=True)
    nonce = secrets.token_hex(8)
    result = work / f"{name}.json"
    result.unlink(missing_ok=True)
    request = {
        "schema": 1,
        "nonce": nonce,
        "arm": arm.value,
        "device": device,
        "check": {"id": check.id, "file": str((kit / check.file).resolve()), "select": check.select},
        "emulator": emulator,
        "files": list(files),
        "cover": cover,
        "carried": [str(carried(work.parent))],
        "work": str(work / f"{name}.work"),
        "result": str(result),
        "case_limit": None,
    }
    sent = work / f"{name}.request.json"
    sent.write_text(json.dumps(request, indent=1), encoding="utf-8")
    argv = [str(python), str(_script()), str(sent)]
    done = proc.run(argv, cwd=work, env=_environment(env), timeout=check.timeout, tee=work / f"{name}.log")
    return _read(result, nonce, done, check), result, done.command


def _environment(extra: Mapping[str, str]) -> dict[str, str]:
    return proc.environment({**extra, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "PYTHONHOME": None})


def _script() -> Path:
    return Path(str(resources.files("pipeline"))) / "target" / "run_check.py"


def _read(path: Path, nonce: str, done: proc.Completed, check: Check) -> CheckResult:
    why = f"it ended with code {done.code}: {(done.error_text or done.text).strip()[-1500:]}"
    if done.code == proc.TIMED_OUT:
        why = f"it was stopped after {check.timeout:.0f} s"
    try:
        found = CheckResult.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        detail = "" if isinstance(error, OSError) else f"; its result cannot be read: {error}"
        raise TargetError(
            f"check {check.id}: the target interpreter gave no result",
            why=why + detail,
            next_step=f"read {path.with_suffix('.log')}; `{done.command}` runs it again",
        ) from error
    if found.nonce != nonce:
        raise TargetError(
            f"check {check.id}: the result is not of this run", why="its nonce differs", next_step="run again"
        )
    return found


def carried(run_folder: Path) -> Path:
    """A folder with links to the packages that a target may lack, and to nothing else of ours."""
    folder = run_folder / "carried"
    folder.mkdir(parents=True, exist_ok=True)
    for name in CARRIED:
        spec = find_spec(name)
        if spec and spec.origin and not (folder / name).exists():
            source = Path(spec.origin)
            (folder / (name if source.name == "__init__.py" else source.name)).symlink_to(
                source.parent if source.name == "__init__.py" else source
            )
    return folder
