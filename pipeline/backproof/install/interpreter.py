"""The boundary to the target interpreter: a probe goes in by path, one JSON line comes out.

The target is never imported here, and the probe does not import it there. Start-up code of the environment (.pth files,
sitecustomize) runs as it does for the service.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from backproof.adapters import proc
from backproof.adapters.environment import build_environment
from backproof.core.errors import BackproofError, PlanError, TargetError
from backproof.core.model import Record
from backproof.core.redaction import redact
from backproof.records.proof import Target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.kit.plan import Service

_PROBE = Path(str(resources.files("backproof"))) / "target" / "probe.py"
_OLDEST = (3, 8)
TAIL = 1500
"""Characters of the target's output that are shown."""


class CachedFile(Record):
    """The compiled file of a module: `used` by an import, and the `same` code as its source."""

    path: str
    kind: Literal["absent", "foreign", "timestamp", "checked-hash", "unchecked-hash"]
    used: bool
    same: bool | None
    why: str


class ModuleCopy(Record):
    """One file that an import could load, with the entry of sys.path or the finder that leads to it."""

    origin: str
    sha256: str
    loader: str
    entry: str
    kind: str
    detail: str
    cached: CachedFile | None


class ModuleFacts(Record):
    """One module: the copy that an import loads, the copies behind it, and the problems met."""

    name: str
    path: str
    winner: ModuleCopy | None
    others: tuple[ModuleCopy, ...]
    loaded: str
    problems: tuple[str, ...]


class DistributionFacts(Record):
    """One installation record of the distribution."""

    folder: str
    location: str
    version: str
    editable: bool
    origin: str
    installer: str
    record_sha256: str
    metadata_sha256: str
    scripts: tuple[str, ...]
    entry_points: tuple[str, ...]


class InterpreterFacts(Record):
    """The interpreter itself; `lacks` names what checks need and Backproof then lends."""

    executable: str
    version: str
    implementation: str
    platform: str
    prefix: str
    base_prefix: str
    purelib: str
    platlib: str
    pycache_prefix: str
    flags: dict[str, int]
    lacks: tuple[str, ...]


class PathEntry(Record):
    """One entry of sys.path, with its origin."""

    entry: str
    kind: str
    detail: str


class ProbeFacts(Record):
    """The facts of install/distribution.json and verify/probe.json."""

    interpreter: InterpreterFacts
    path: tuple[PathEntry, ...]
    distributions: tuple[DistributionFacts, ...]
    modules: tuple[ModuleFacts, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ProbeAnswer:
    """The facts, and the command that read them."""

    facts: ProbeFacts
    command: str


def probe_target(
    python: Path, *, distribution: str, service: Service, modules: Mapping[str, str] | None = None, timeout: float = 120
) -> ProbeAnswer:
    """Return what the target interpreter would load under the environment of the service.

    Args:
        python: the interpreter, not resolved: a virtual environment is identified by its path.
        distribution: the name whose installation records are read.
        service: the start of the service: environment, folder, script or module.
        modules: module name to path in the repository.
        timeout: seconds.

    Raises:
        PlanError: there is no such interpreter or folder.
        TargetError: it gave no answer: it crashed, hung or ended early.
    """
    marker = secrets.token_hex(16)
    request = {"launch": service.launch, "distribution": distribution, "modules": dict(modules or {})}
    done = proc.run_process(
        [str(python), str(_PROBE), marker],
        cwd=_find_folder(service),
        env=build_service_environment(service),
        stdin=json.dumps(request).encode(),
        timeout=timeout,
    )
    return ProbeAnswer(facts=_parse_answer(done, marker), command=done.command.replace(marker, "MARKER"))


def read_target(distribution: str, facts: ProbeFacts) -> Target | None:
    """Return the release that the target has; None where it has none."""
    if not facts.distributions:
        return None
    installed = facts.distributions[0]
    return Target(distribution=distribution, version=installed.version, record=installed.record_sha256)


def build_service_environment(service: Service) -> dict[str, str]:
    """Return the environment of this process with the service's; nothing is compiled into the target's folders."""
    return build_environment({**service.env, "PYTHONDONTWRITEBYTECODE": "1"})


def _find_folder(service: Service) -> Path:
    folder = Path(service.cwd).absolute()
    if not folder.is_dir():
        raise PlanError(
            f"{folder}: no such folder",
            why="verify.service.cwd names it as the folder of the service",
            next_step="correct verify.service.cwd in the plan",
        )
    return folder


def _parse_answer(done: proc.Completed, marker: str) -> ProbeFacts:
    if done.code == proc.NOT_FOUND:
        raise PlanError(
            f"{done.argv[0]}: not an interpreter", why=done.error_text.strip(), next_step="name one with --python"
        )
    line = next((line for line in done.stdout.splitlines() if line.startswith(marker.encode())), None)
    if line is None:
        raise _build_no_answer_error(done)
    try:
        return ProbeFacts.model_validate_json(line[len(marker) :].decode("utf-8", "replace"))
    except (ValueError, ValidationError) as error:
        raise TargetError(
            f"{done.argv[0]}: its answer cannot be read",
            why=str(error)[:TAIL],
            next_step="open an issue with the version of that interpreter",
        ) from error


def _build_no_answer_error(done: proc.Completed) -> BackproofError:
    if (version := _ask_version(done.argv[0])) and version < _OLDEST:
        return PlanError(
            f"{done.argv[0]}: this is Python {'.'.join(map(str, version))}",
            why=f"the oldest Python of a target that Backproof can look into is {'.'.join(map(str, _OLDEST))}",
            next_step="name an interpreter of a newer Python with --python",
        )
    ended = "did not answer in time" if done.code == proc.TIMED_OUT else f"ended with code {done.code}"
    output = redact((done.error_text.strip() or done.text.strip())[-TAIL:]) or "it printed nothing"
    return TargetError(
        f"{done.argv[0]}: the interpreter {ended} before it answered",
        why=f"its start-up code (.pth files, sitecustomize) runs before anything else. Its last output: {output}",
        next_step=f"run `{done.argv[0]} -c pass` under the same environment and correct what fails",
    )


def _ask_version(python: str) -> tuple[int, ...]:
    """Return the version in words that every Python since 2 understands; empty where it says none."""
    done = proc.run_process([python, "-S", "-E", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], timeout=20)
    numbers = done.text.strip().split(".")
    return tuple(map(int, numbers)) if done.code == 0 and all(number.isdecimal() for number in numbers) else ()
