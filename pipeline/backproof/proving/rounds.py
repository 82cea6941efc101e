"""The four runs: the fix's test files on base and on fixed, in turn, twice; the second time it is seen what is reached."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backproof.adapters.environment import put_first_on_path, select_environment
from backproof.core.model import Arm
from backproof.core.plural import format_count
from backproof.devices.check_result import TestResult
from backproof.upstream_tests.turns import collect_tests
from backproof.upstream_tests.worker import SourceTree, TestJob

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from backproof.proving.trees import ArmTree
    from backproof.recipes.cache import Environment
    from backproof.records.upstream_tests import OwnTest
    from backproof.upstream_tests.turns import CollectedTests
    from backproof.upstream_tests.worker import TestLog

_CRASHES: Final = 5
"""Tests that may take their process with them before the rest of a run is given up."""
_TWICE: Final = 2
_THRICE: Final = 3
"""Where a test got worse twice: a FAIL is not said of a busy host."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bench:
    """Where the runs happen, and the files of tests that are run whole."""

    environment: Environment
    trees: Mapping[Arm, ArmTree]
    files: tuple[str, ...]
    work: Path
    carried: Path
    say: Callable[[str], None]
    budget: float | None = None
    """Seconds of one run, after which it is over; None: a test that hangs is left out, and the others go on."""


@dataclass(kw_only=True, slots=True)
class ArmRun:
    """One run of all files on one arm."""

    arm: Arm
    tests: dict[str, TestResult] = field(default_factory=dict)
    reached: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    uncollected: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)
    lost: str = ""
    """Why tests were given up; empty where all of them ended."""
    commands: list[str] = field(default_factory=list)
    seconds: float = 0


def run_rounds(bench: Bench, name: str = "", *, trace_all: bool = False) -> dict[Arm, list[ArmRun]]:
    """Run base and fixed in turn, twice each. Tests that changed between the arms are traced in the second round.

    With `trace_all`, all tests are traced in both rounds. `name` begins the names of the files that the processes write.
    """
    runs: dict[Arm, list[ArmRun]] = {arm: [] for arm in bench.trees}
    attempts = _CRASHES if bench.budget is None else 1
    with ExitStack() as stack:
        collected = {arm: stack.enter_context(collect_tests(_make_job(bench, arm), f"{name}{arm}")) for arm in runs}
        for number in range(_THRICE):
            if number == _TWICE and not _has_worse(runs):
                break
            traced = None if trace_all else _list_changed(runs) if number and len(runs) > 1 else ()
            for arm, earlier in runs.items():
                bench.say(f"    {arm}, run {number + 1}")
                run = run_arm(collected[arm], arm, f"{name}{arm}-{number + 1}", traced, attempts=attempts)
                earlier.append(run)
                bench.say(f"    {arm}, run {number + 1}: {_describe(run)}")
    return runs


def _list_changed(runs: Mapping[Arm, Sequence[ArmRun]]) -> tuple[str, ...]:
    before, after = runs[Arm.BASE][0].tests, runs[Arm.FIXED][0].tests
    ends = {name: {arm[name].outcome if name in arm else "" for arm in (before, after)} for name in {*before, *after}}
    return tuple(sorted(name for name, outcomes in ends.items() if "passed" in outcomes and len(outcomes) > 1))


def _has_worse(runs: Mapping[Arm, Sequence[ArmRun]]) -> bool:
    """Tell whether a test is green in every run on base and in none with the fix."""
    green = [{name for name, test in run.tests.items() if test.outcome == "passed"} for run in runs[Arm.BASE]]
    other = [{name for name, test in run.tests.items() if test.outcome == "passed"} for run in runs.get(Arm.FIXED, ())]
    return bool(other) and bool(green[0].intersection(*green) - other[0].union(*other))


def _describe(run: ArmRun) -> str:
    outcomes = [test.outcome for test in run.tests.values()]
    counts = ", ".join(f"{outcomes.count(name)} {name}" for name in sorted(set(outcomes)))
    return (counts or "no test ran") + (f"; {run.lost}" if run.lost else "")


def run_arm(collected: CollectedTests, arm: Arm, name: str, traced: Sequence[str] | None, *, attempts: int) -> ArmRun:
    """Run all files in one process; a test that takes it down is left out, and another process goes on behind it."""
    run = ArmRun(arm=arm)
    for attempt in range(attempts):
        log = collected.run_turn(f"{name}-{attempt}", deselect=tuple(run.tests), traced=traced)
        _add_log(run, log, collected.job)
        if not log.died:
            return run
        if log.died_in is None:
            run.lost = f"the process ended with code {log.code} outside any test: {log.output[-700:]}"
            return run
        how = "hangs" if log.hung else f"ended its process with code {log.code}"
        run.tests[log.died_in] = TestResult(nodeid=log.died_in, outcome="error", message=f"{log.died_in} {how}")
    run.lost = f"{format_count(attempts, 'test')} took the process down, or its time was up"
    return run


def _make_job(bench: Bench, arm: Arm) -> TestJob:
    tree, recipe = bench.trees[arm], bench.environment.recipe
    return TestJob(
        python=bench.environment.python,
        env={**recipe.env, "PYTHONPATH": os.pathsep.join(tree.path)},
        base=_build_base(bench),
        root=tree.folder,
        work=bench.work,
        carried=bench.carried,
        files=tuple(tree.hashes),
        select=bench.files,
        timeout=bench.budget or recipe.timeout,
        tree=SourceTree(
            path=tree.path,
            packages=tree.packages,
            options=("--continue-on-collection-errors", "-o", f"cache_dir={bench.work / 'cache'}", *recipe.options),
            lines=tree.lines,
            tolerant=arm is Arm.BASE,
        ),
    )


def _build_base(bench: Bench) -> dict[str, str]:
    """Return the environment of the tests: nothing of ours but where programs are. No token of ours reaches the target."""
    home = bench.work / "home"
    home.mkdir(parents=True, exist_ok=True)
    programs = put_first_on_path(bench.environment.python.parent)
    return {**select_environment(("TMPDIR", "TZ", "USER")), "PATH": programs, "HOME": str(home), "LANG": "C.UTF-8"}


def _add_log(run: ArmRun, log: TestLog, job: TestJob) -> None:
    for name, report in log.reports.items():
        if name not in log.ended:
            continue
        outcome = "failed" if report.bad and report.phase == "call" else "error" if report.bad else report.outcome
        run.tests[name] = TestResult.model_validate(
            {
                "nodeid": name,
                "outcome": outcome,
                "phase": report.phase or "call",
                "raised": report.raised,
                "message": _describe_raised(report, job.root) or report.message,
                "seconds": report.seconds,
            }
        )
        run.reached[name] = report.reached
        run.missing[name] = report.missing
    run.uncollected |= log.uncollected
    run.loaded |= log.loaded
    run.foreign |= log.foreign
    run.commands.append(log.command)


def _describe_raised(report: OwnTest, root: Path) -> str:
    """Return what a test failed with in one line: the exception, the start of its message, and the line that raised it."""
    if not report.raised:
        return ""
    raised = report.raised[0]
    kind = raised.classes[0].rpartition(".")[2] if raised.classes else "exception"
    # The arm's own frame nearest to it: where an assertion of a library was raised says nothing.
    own = [(file, line) for file, line in raised.frames if file.startswith(f"{root}/")]
    file, line = own[-1] if own else (raised.file, raised.line)
    return f"{kind}: {_read_head(raised.text)} ({file.removeprefix(f'{root}/')}:{line})"[:500]


def _read_head(text: str) -> str:
    """Return the first line of a message, with the next ones where it only announces them."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[:4] if lines and lines[0].endswith(":") else lines[:1])
