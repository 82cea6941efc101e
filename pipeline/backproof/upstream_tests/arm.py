"""All selected tests on one arm: each file in processes of its own, past crashes, and again what failed."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from backproof.records.upstream_tests import ArmTests, OwnTest
from backproof.serving import first_fault
from backproof.upstream_tests.worker import Log, Result, work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backproof.core.model import Arm
    from backproof.kit.serving import UpstreamTests
    from backproof.records.serving import Scene
    from backproof.upstream_tests.worker import Shift

_CRASHES: Final = 20
"""Tests of one file that may take their process with them before the rest of the file is given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Arrangement:
    """How an arm's tests run. `logs` gives each process a log folder of its own."""

    plan: UpstreamTests
    shift: Shift
    arm: Arm
    hashes: Mapping[str, str | None]
    logs: Callable[[str], Mapping[str, str]]
    say: Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Process:
    """One process that ran: its log, and what the device's logs say when it died."""

    log: Log
    scene: Scene | None = None


def run_arm(arrangement: Arrangement) -> ArmTests:
    """Every test that was collected, with its outcome over all its runs."""
    found: dict[str, OwnTest] = {}
    loaded: dict[str, str] = {}
    for number, file in enumerate(_files(arrangement.plan.select)):
        for each in _file(arrangement, number, file, loaded):
            found[each.test] = each
    # What hangs hangs for all of its time: that is not paid again.
    again = [each for each in found.values() if each.bad and each.outcome != "hung"]
    for number, each in enumerate(again):
        found[each.test] = _repeated(arrangement, number, each, loaded)
    return ArmTests(
        arm=arrangement.arm, tests=tuple(found.values()), loaded=loaded, strange=_strange(arrangement, found, loaded)
    )


def _files(select: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Node ids of one file go together: its imports and fixtures are paid once."""
    groups: dict[str, list[str]] = {}
    for each in select:
        groups.setdefault(each.partition("::")[0], []).append(each)
    return [tuple(each) for each in groups.values()]


def _file(arrangement: Arrangement, number: int, select: tuple[str, ...], loaded: dict[str, str]) -> list[OwnTest]:
    """One file: after a crash a new process goes on with the tests behind it."""
    done: dict[str, OwnTest] = {}
    collected: list[str] = []
    for attempt in range(_CRASHES + 1):
        process = _run(arrangement, f"{number:03}-{attempt}", select, tuple(done))
        log = process.log
        collected = collected or log.collected
        loaded |= log.loaded
        done |= {each: _of(log.results.get(each), each) for each in log.ended}
        if not log.died:
            break
        if log.died_in is None:
            # It died outside any test: at import, in collection, at the end. There is nothing to go on behind.
            return [*done.values(), *_lost(select, collected, done, process)]
        done[log.died_in] = _crashed(log.died_in, process)
        arrangement.say(f"      {log.died_in}: {done[log.died_in].message}")
    return [*done.values(), *(OwnTest(test=each, outcome="not-run", runs=0) for each in collected if each not in done)]


def _run(arrangement: Arrangement, name: str, select: tuple[str, ...], deselect: tuple[str, ...]) -> _Process:
    logs = arrangement.logs(name)
    shift = replace(
        arrangement.shift,
        select=select,
        deselect=deselect,
        env={**arrangement.shift.env, **arrangement.plan.env, **logs},
    )
    log = work(shift, name)
    if not log.died:
        return _Process(log=log)
    folder = logs.get("ASCEND_PROCESS_LOG_PATH")
    paths = [shift.work / f"{name}.log", *([type(shift.work)(folder)] if folder else [])]
    found, _ = first_fault.first(paths)
    return _Process(log=log, scene=found)


def _of(result: Result | None, test: str) -> OwnTest:
    if result is None:
        return OwnTest(test=test, outcome="not-run", runs=0, message="its process left no report of it")
    bad = result.outcome in {"failed", "error"}
    facts = {"outcome": result.outcome, "message": result.message, "seconds": result.seconds}
    return OwnTest.model_validate({"test": test, "bad": int(bad), **facts})


def _crashed(test: str, process: _Process) -> OwnTest:
    outcome = "hung" if process.log.hung else "crashed"
    return OwnTest.model_validate(
        {"test": test, "outcome": outcome, "bad": 1, "message": _end(process), "scene": process.scene}
    )


def _end(process: _Process) -> str:
    code = process.log.code
    how = f"code {code}"
    if process.log.hung:
        how = "its time: it hangs"
    elif code < 0:
        how = f"signal {signal.Signals(-code).name}" if -code in set(signal.Signals) else f"signal {-code}"
    first = f"; the first scene is {process.scene.where}: {process.scene.verdict}" if process.scene else ""
    return f"the process ended with {how}{first}"[:1000]


def _lost(select: tuple[str, ...], collected: list[str], done: dict[str, OwnTest], process: _Process) -> list[OwnTest]:
    left = [each for each in collected or select if each not in done]
    said = f"{_end(process)} outside any test: {process.log.said[-500:]}"
    return [OwnTest(test=each, outcome="not-run", runs=0, message=said, scene=process.scene) for each in left]


def _repeated(arrangement: Arrangement, number: int, first: OwnTest, loaded: dict[str, str]) -> OwnTest:
    """The same test alone, in fresh processes: is it broken, or flaky?"""
    now = first
    for attempt in range(1, arrangement.plan.repeats):
        process = _run(arrangement, f"again-{number:03}-{attempt}", (first.test,), ())
        loaded |= process.log.loaded
        if process.log.died:
            seen = _crashed(first.test, process)
        elif first.test in process.log.results:
            seen = _of(process.log.results[first.test], first.test)
        else:
            break
        facts = {"runs": now.runs + 1, "bad": now.bad + seen.bad, "outcome": seen.outcome}
        now = now.model_copy(update=facts)
    return now


def _strange(arrangement: Arrangement, found: dict[str, OwnTest], loaded: Mapping[str, str]) -> str:
    """Why these tests say nothing of the arm: nothing ran, or other code than the arm's was loaded."""
    if not any(each.runs and each.outcome != "skipped" for each in found.values()):
        return f"no test ran ({len(found)} selected)"
    wrong = [file for file, sha in loaded.items() if arrangement.hashes.get(file) != sha]
    if wrong:
        return f"not the code of this arm was loaded: {', '.join(wrong)[:500]}"
    return "" if loaded or not arrangement.hashes else "none of the patch's files was loaded by the tests"
