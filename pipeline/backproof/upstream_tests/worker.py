"""One process that runs some of the target's tests: its reports, and the test in which it died if it died."""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from backproof.adapters import proc
from backproof.adapters.environment import build_environment
from backproof.devices.check_result import TestResult
from backproof.records.upstream_tests import OwnTest
from backproof.verdict.endings import classify_ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LIMIT: Final = 64 * 1024 * 1024
_DONE: Final = frozenset({0, 1, 5})
"""pytest's codes for: all passed, some failed, none collected. Any other code means that it did not end by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceTree:
    """The source tree of one arm: folders for the path, the packages that must come from there, options of pytest.

    Of tests that are traced it is written down which of `lines`, by absolute file, they execute. `tolerant` lets
    test modules be collected although names that they import are missing in these packages.
    """

    path: Sequence[str]
    packages: Sequence[str]
    options: Sequence[str] = ()
    lines: Mapping[str, Sequence[int]] = field(default_factory=dict)
    tolerant: bool = False
    turns: str = ""
    """A folder, where the process is to fork one for each turn (see turns.py); empty: it runs the tests itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TestJob:
    """The tests that one process is to run. `root` holds the repository's tests and nothing else of it."""

    __test__ = False
    python: Path
    env: Mapping[str, str]
    root: Path
    work: Path
    carried: Path
    files: Sequence[str]
    select: tuple[str, ...]
    deselect: tuple[str, ...] = ()
    timeout: float = 1800
    base: Mapping[str, str] | None = None
    """The environment that `env` is added to; ours where it is None."""
    tree: SourceTree | None = None
    """What is tested where that is no installed target, with the project's own configuration of pytest."""


@dataclass(kw_only=True, slots=True)
class TestLog:
    """The events that a process wrote as it went, and how it ended."""

    __test__ = False
    code: int = 0
    command: str = ""
    collected: list[str] = field(default_factory=list)
    uncollected: dict[str, str] = field(default_factory=dict)
    """Modules and classes that could not be collected, each with the last line of its traceback."""
    ended: list[str] = field(default_factory=list)
    died_in: str | None = None
    loaded: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)
    """Modules of the tree's packages that came from elsewhere, with their files."""
    reports: dict[str, OwnTest] = field(default_factory=dict)
    output: str = ""

    @property
    def died(self) -> bool:
        return self.code not in _DONE

    @property
    def hung(self) -> bool:
        return self.code == proc.TIMED_OUT


def run_tests(job: TestJob, name: str) -> TestLog:
    """Run the tests of a job in a process of its own (started afresh, never forked: a device would not survive it)."""
    nonce = secrets.token_hex(8)
    argv, env = prepare_process(job, name, nonce)
    done = proc.run_process(argv, cwd=job.root, env=env, timeout=job.timeout, tee=job.work / f"{name}.log")
    log = TestLog(code=done.code, command=done.command, output=(done.error_text or done.text).strip()[-1500:])
    replay_events(job.work / f"{name}.events.jsonl", nonce, log)
    return log


def prepare_process(job: TestJob, name: str, nonce: str) -> tuple[list[str], dict[str, str]]:
    """Write the request of a process; return its command and its environment."""
    job.work.mkdir(parents=True, exist_ok=True)
    events, request = (job.work / f"{name}.{kind}" for kind in ("events.jsonl", "request.json"))
    events.unlink(missing_ok=True)
    content = {
        "nonce": nonce,
        "events": str(events),
        "root": str(job.root.resolve()),
        "carried": [str(job.carried)],
        "files": list(job.files),
        "select": list(job.select),
        "deselect": list(job.deselect),
        **(asdict(job.tree) if job.tree else {}),
    }
    request.write_text(json.dumps(content, indent=1), encoding="utf-8")
    script = Path(str(resources.files("backproof"))) / "target" / "run_upstream_tests.py"
    argv = [str(job.python), str(script), str(request)]
    added = {**job.env, "VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
    if job.base is None:
        return argv, build_environment({**added, "PYTHONDONTWRITEBYTECODE": "1"})
    return argv, {**job.base, **added}


def replay_events(events: Path, nonce: str, log: TestLog) -> None:
    """Apply all events. A line that was cut by the end of the process is the last one, and is left out."""
    for line in _read_lines(events):
        try:
            event = json.loads(line)
            if event["nonce"] == nonce:
                _apply_event(event, log)
        except (ValueError, KeyError, TypeError):
            continue


def _apply_event(event: dict[str, Any], log: TestLog) -> None:
    match event["event"]:
        case "collected":
            log.collected += [str(test) for test in event["tests"]]
        case "uncollected":
            reason = str(event["message"]).strip().rpartition("\n")[2]
            log.uncollected[str(event["test"])] = reason.removeprefix("E").strip()[:1000]
        case "start":
            log.died_in = str(event["test"])
        case "end":
            log.ended.append(str(event["test"]))
            log.died_in = None
        case "loaded":
            log.loaded[str(event["file"])] = str(event["sha256"])
        case "foreign":
            log.foreign[str(event["module"])] = str(event["file"])
        case "reached" | "missing":
            _apply_facts(event, log)
        case "report":
            _apply_report(event, log)
        case _:
            pass


def _apply_report(event: dict[str, Any], log: TestLog) -> None:
    """Apply one of a test's three reports: the first that is not good is its outcome."""
    test, outcome = str(event["test"]), str(event["outcome"])
    before = log.reports.get(test, OwnTest(test=test, outcome="passed"))
    facts: dict[str, Any] = {"seconds": before.seconds + float(event["seconds"])}
    if not before.bad and outcome == "failed":
        ending = TestResult.model_validate(
            {"nodeid": test, "outcome": outcome, "phase": event["when"], "raised": event["raised"]}
        )
        word = "error" if classify_ending(ending) == "error" else "failed"
        facts |= {"outcome": word, "bad": 1, "message": str(event["message"])[-1000:], "phase": event["when"]}
        facts["raised"] = ending.raised
    elif not before.bad and outcome == "skipped":
        facts["outcome"] = "skipped"
    log.reports[test] = before.model_copy(update=facts)


def _apply_facts(event: dict[str, Any], log: TestLog) -> None:
    """Apply what a test executed, or which missing names it met."""
    test = str(event["test"])
    before = log.reports.get(test, OwnTest(test=test, outcome="passed"))
    facts = {name: event[key] for key, name in (("lines", "reached"), ("names", "missing")) if key in event}
    log.reports[test] = OwnTest.model_validate({**before.model_dump(), **facts})


def _read_lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as stream:
            return stream.read(_LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
