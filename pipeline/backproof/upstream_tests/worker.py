"""One process that runs some of the target's tests: what it reported, and which test it died in if it died."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from junitparser import JUnitXml, JUnitXmlError, TestCase

from backproof.adapters import proc

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LIMIT: Final = 64 * 1024 * 1024
_DONE: Final = frozenset({0, 1, 5})
"""pytest's codes for: all passed, some failed, none collected. Anything else is no end of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Shift:
    """What one process is to do. `root` holds the repository's tests and nothing else of it."""

    python: Path
    env: Mapping[str, str]
    root: Path
    work: Path
    carried: Path
    files: Sequence[str]
    select: tuple[str, ...]
    deselect: tuple[str, ...] = ()
    timeout: float = 1800


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """One test as JUnit has it."""

    outcome: str
    message: str = ""
    seconds: float = 0.0


@dataclass(kw_only=True, slots=True)
class Log:
    """What the process put down as it went, and how it ended."""

    code: int = 0
    command: str = ""
    collected: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    died_in: str | None = None
    loaded: dict[str, str] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    """By JUnit; where the process died before it could write that, by what it put down as it went."""
    said: str = ""

    @property
    def died(self) -> bool:
        return self.code not in _DONE

    @property
    def hung(self) -> bool:
        return self.code == proc.TIMED_OUT


def work(shift: Shift, name: str) -> Log:
    """Run the tests of a shift in a process of its own (started afresh, never forked: a device would not survive it)."""
    shift.work.mkdir(parents=True, exist_ok=True)
    nonce = secrets.token_hex(8)
    events, junit, sent = (shift.work / f"{name}.{kind}" for kind in ("events.jsonl", "junit.xml", "request.json"))
    for stale in (events, junit):
        stale.unlink(missing_ok=True)
    request = {
        "nonce": nonce,
        "root": str(shift.root.resolve()),
        "events": str(events),
        "junit": str(junit),
        "carried": [str(shift.carried)],
        "files": list(shift.files),
        "select": list(shift.select),
        "deselect": list(shift.deselect),
    }
    sent.write_text(json.dumps(request, indent=1), encoding="utf-8")
    script = Path(str(resources.files("backproof"))) / "target" / "run_upstream_tests.py"
    argv = [str(shift.python), str(script), str(sent)]
    env = proc.environment({**shift.env, "VLLM_WORKER_MULTIPROC_METHOD": "spawn", "PYTHONDONTWRITEBYTECODE": "1"})
    done = proc.run(argv, cwd=shift.root, env=env, timeout=shift.timeout, tee=shift.work / f"{name}.log")
    log = Log(code=done.code, command=done.command, said=(done.error_text or done.text).strip()[-1500:])
    _replay(events, nonce, log)
    log.results |= dict(_results(junit, log.ended))
    return log


def _replay(events: Path, nonce: str, log: Log) -> None:
    """A line that was cut by the end of the process is the last one, and is left out."""
    for line in _lines(events):
        try:
            event = json.loads(line)
            if event["nonce"] == nonce:
                _take(event, log)
        except (ValueError, KeyError, TypeError):
            continue


def _take(event: dict[str, Any], log: Log) -> None:
    match event["event"]:
        case "collected":
            log.collected += [str(each) for each in event["tests"]]
        case "start":
            log.died_in = str(event["test"])
        case "end":
            log.ended.append(str(event["test"]))
            log.died_in = None
        case "loaded":
            log.loaded[str(event["file"])] = str(event["sha256"])
        case "report":
            _report(event, log)
        case _:
            pass


def _report(event: dict[str, Any], log: Log) -> None:
    """A test has three reports; the worst is its outcome, and one that fails outside its call is an error."""
    test, outcome = str(event["test"]), str(event["outcome"])
    before = log.results.get(test, Result(outcome="passed"))
    seconds = before.seconds + float(event["seconds"])
    if outcome == "failed":
        word = "failed" if event["when"] == "call" else "error"
        log.results[test] = Result(outcome=word, message=str(event["message"])[-1000:], seconds=seconds)
    elif outcome == "skipped":
        log.results[test] = Result(outcome="skipped", seconds=seconds)
    else:
        log.results[test] = Result(outcome=before.outcome, message=before.message, seconds=seconds)


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as stream:
            return stream.read(_LIMIT).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _results(junit: Path, tests: Sequence[str]) -> Iterator[tuple[str, Result]]:
    """Outcomes by node id; JUnit has class and name only, so each node id says what it is called there."""
    named = {junit_name(each): each for each in tests}
    try:
        if junit.stat().st_size > _LIMIT:
            return
        suites = JUnitXml.fromfile(str(junit))
    except (OSError, JUnitXmlError, SyntaxError):
        return
    for case in (each for suite in suites for each in suite):
        test = named.get((str(case.classname or ""), str(case.name or "")))
        if test is not None:
            yield test, _result(case)


def junit_name(test: str) -> tuple[str, str]:
    """`tests/a/test_b.py::TestC::test_d[e]` is class `tests.a.test_b.TestC` and name `test_d[e]`."""
    head, bracket, parameters = test.partition("[")
    file, *inner = head.split("::")
    path = file.removesuffix(".py").replace("/", ".")
    *classes, name = inner or [""]
    return ".".join([path, *classes]), f"{name}{bracket}{parameters}"


def _result(case: TestCase) -> Result:
    seconds = float(case.time or 0)
    if case.is_skipped:
        return Result(outcome="skipped", seconds=seconds)
    bad = [each for each in case.result if type(each).__name__ in {"Failure", "Error"}]
    if not bad:
        return Result(outcome="passed", seconds=seconds)
    outcome = "failed" if type(bad[0]).__name__ == "Failure" else "error"
    return Result(outcome=outcome, message=str(bad[0].message or "")[:1000], seconds=seconds)
