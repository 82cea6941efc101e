"""All selected tests on one arm: each file in processes of its own, past crashes, and again the tests that failed."""

from __future__ import annotations

import signal
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from backproof.records.upstream_tests import ArmTests, OwnTest
from backproof.serving.first_fault import find_first_fault
from backproof.upstream_tests.worker import run_tests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backproof.core.model import Arm
    from backproof.devices.protocol import ProcessSetup
    from backproof.kit.serving import UpstreamTests
    from backproof.records.serving import LoggedFault
    from backproof.upstream_tests.worker import TestJob, TestLog

_CRASHES: Final = 20
"""Tests of one file that may take their process with them before the rest of the file is given up."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmJob:
    """The tests of an arm to run. `prepare` gives each process a log folder of its own."""

    plan: UpstreamTests
    test_job: TestJob
    arm: Arm
    hashes: Mapping[str, str | None]
    prepare: Callable[[str], ProcessSetup]
    say: Callable[[str], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Process:
    """One process that ran: its log, and the first fault in the device's logs when it died."""

    log: TestLog
    first_fault: LoggedFault | None = None


def run_arm(job: ArmJob) -> ArmTests:
    """Run every selected test. Return each with its outcome over all its runs."""
    tests: dict[str, OwnTest] = {}
    loaded: dict[str, str] = {}
    for number, selection in enumerate(_group_by_file(job.plan.select)):
        tests |= {test.test: test for test in _run_file(job, number, selection, loaded)}
    # A test that hangs hangs for all of its time: that is not spent again.
    again = [test for test in tests.values() if test.bad and test.outcome != "hung"]
    for number, test in enumerate(again):
        tests[test.test] = _repeat_test(job, number, test, loaded)
    strange = _explain_strange(job, tests, loaded)
    return ArmTests(arm=job.arm, tests=tuple(tests.values()), loaded=loaded, strange=strange)


def _group_by_file(select: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Group node ids by file: its imports and fixtures are run once."""
    groups = defaultdict(list)
    for selection in select:
        groups[selection.partition("::")[0]].append(selection)
    return [tuple(group) for group in groups.values()]


def _run_file(job: ArmJob, number: int, select: tuple[str, ...], loaded: dict[str, str]) -> list[OwnTest]:
    """Run one file: after a crash a new process continues with the tests behind it."""
    done: dict[str, OwnTest] = {}
    collected: list[str] = []
    for attempt in range(_CRASHES + 1):
        process = _run_process(job, f"{number:03}-{attempt}", select, tuple(done))
        log = process.log
        collected = collected or log.collected
        loaded |= log.loaded
        done |= {test: log.reports.get(test) or _record_unreported(test) for test in log.ended}
        if not log.died:
            break
        if log.died_in is None:
            # It died outside any test: at import, in collection, at the end. No test is left to continue behind.
            return [*done.values(), *_record_lost(select, collected, done, process)]
        done[log.died_in] = _record_crash(log.died_in, process)
        job.say(f"      {log.died_in}: {done[log.died_in].message}")
    return [*done.values(), *(OwnTest(test=test, outcome="not-run", runs=0) for test in collected if test not in done)]


def _run_process(job: ArmJob, name: str, select: tuple[str, ...], deselect: tuple[str, ...]) -> _Process:
    setup = job.prepare(name)
    env = {**job.test_job.env, **job.plan.env, **setup.env}
    log = run_tests(replace(job.test_job, select=select, deselect=deselect, env=env), name)
    if not log.died:
        return _Process(log=log)
    fault, _ = find_first_fault([job.test_job.work / f"{name}.log", *([setup.logs] if setup.logs else [])])
    return _Process(log=log, first_fault=fault)


def _record_unreported(test: str) -> OwnTest:
    return OwnTest(test=test, outcome="not-run", runs=0, message="its process left no report of it")


def _record_crash(test: str, process: _Process) -> OwnTest:
    return OwnTest(
        test=test,
        outcome="hung" if process.log.hung else "crashed",
        bad=1,
        message=_describe_end(process),
        first_fault=process.first_fault,
    )


def _describe_end(process: _Process) -> str:
    code, fault = process.log.code, process.first_fault
    how = f"ended with code {code}"
    if process.log.hung:
        how = "was stopped when its time was up: it hangs"
    elif code < 0:
        how = f"ended with signal {signal.Signals(-code).name if -code in set(signal.Signals) else -code}"
    first = f"; the first fault is at {fault.where}: {fault.verdict}" if fault else ""
    return f"the process {how}{first}"[:1000]


def _record_lost(
    select: tuple[str, ...], collected: list[str], done: dict[str, OwnTest], process: _Process
) -> list[OwnTest]:
    uncollected = process.log.uncollected
    lost = [*collected, *uncollected] if collected else select
    reason = f"{_describe_end(process)} outside any test: {process.log.output[-500:]}"
    facts: dict[str, Any] = {
        "message": "; ".join(uncollected.values())[:1000] or reason,
        "first_fault": process.first_fault,
        "uncollected": bool(uncollected),
    }
    return [OwnTest(test=test, outcome="not-run", runs=0, **facts) for test in lost if test not in done]


def _repeat_test(job: ArmJob, number: int, first: OwnTest, loaded: dict[str, str]) -> OwnTest:
    """Run the test alone, in fresh processes: is it broken, or flaky?"""
    total = first
    for attempt in range(1, job.plan.repeats):
        process = _run_process(job, f"again-{number:03}-{attempt}", (first.test,), ())
        loaded |= process.log.loaded
        if process.log.died:
            last = _record_crash(first.test, process)
        elif (report := process.log.reports.get(first.test)) is not None:
            last = report
        else:
            break
        # A failure beside an error: it is not known which of them the test would show without the other's cause.
        outcome = "error" if last.bad and "error" in {total.outcome, last.outcome} else last.outcome
        facts = {"runs": total.runs + 1, "bad": total.bad + last.bad, "outcome": outcome}
        total = total.model_copy(update=facts)
    return total


def _explain_strange(job: ArmJob, tests: Mapping[str, OwnTest], loaded: Mapping[str, str]) -> str:
    """Return why these tests show nothing of the arm: nothing ran, or code of another arm was loaded."""
    if not any(test.runs and test.outcome != "skipped" for test in tests.values()):
        return f"no test ran ({len(tests)} selected)"
    wrong = [file for file, sha in loaded.items() if job.hashes.get(file) != sha]
    if wrong:
        return f"not the code of this arm was loaded: {', '.join(wrong)[:500]}"
    return "" if loaded or not job.hashes else "none of the patch's files was loaded by the tests"
