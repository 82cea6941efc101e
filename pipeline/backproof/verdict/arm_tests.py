"""Tests over their runs, and one arm beside another, test by test. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from backproof.records.arm_tests import ArmTest
from backproof.verdict.endings import classify_ending, describe_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backproof.devices.check_result import TestResult
    from backproof.records.arm_tests import Ending

Standing = Literal["mended", "fine", "worse", "still-red", "not-shown", "flaky", "error"]
"""One test over two arms. `mended` is a proof, `worse` alone refutes; the others show neither."""


def sum_runs(rounds: Sequence[Sequence[TestResult]]) -> tuple[ArmTest, ...]:
    """Return what each test showed over all rounds, in the order in which they were met."""
    runs: dict[str, list[TestResult]] = {}
    for tests in rounds:
        for test in tests:
            runs.setdefault(test.nodeid, []).append(test)
    absent = {name for name in runs if any(all(test.nodeid != name for test in tests) for tests in rounds)}
    return tuple(_sum_test(name, tests, is_absent=name in absent) for name, tests in runs.items())


def _sum_test(name: str, tests: Sequence[TestResult], *, is_absent: bool) -> ArmTest:
    endings = [classify_ending(test) for test in tests]
    shown = {(ending, _find_kind(test)) for ending, test in zip(endings, tests, strict=True)}
    ending: Ending = "error" if "error" in endings else "flaky" if is_absent or len(shown) > 1 else endings[0]
    red = [test for test, end in zip(tests, endings, strict=True) if end in {"failed", "fault"}]
    telling = next((test for test, end in zip(tests, endings, strict=True) if end == ending), (red or tests)[0])
    return ArmTest(
        test=name,
        ending=ending,
        runs=len(tests),
        red=len(red),
        kind=_find_kind(telling),
        line="" if ending == "passed" else describe_end(telling),
    )


def _find_kind(test: TestResult) -> str:
    """The first fault's; what follows are secondary errors."""
    return test.faults[0].kind if test.faults else ""


def describe_end(test: TestResult) -> str:
    """Return one line about what a test ended with."""
    if classify_ending(test) == "error":
        return describe_error(test)
    text = " ".join((test.faults[0].text if test.faults else test.message).split())
    return text[:500] or "it failed without a message"


def compare_test(base: ArmTest | None, other: ArmTest | None) -> Standing:
    """Say what one test shows of an arm beside base; None is a test that is missing there."""
    if "error" in {test.ending for test in (base, other) if test}:
        return "error"
    if "flaky" in {test.ending for test in (base, other) if test}:
        return "flaky"
    if base is not None and base.is_red:
        mended: Standing = "mended" if other is not None and other.ending == "passed" else "not-shown"
        return "still-red" if other is not None and other.is_red else mended
    if other is None or not other.is_red:
        return "fine"
    return "worse" if base is not None and base.ending == "passed" else "not-shown"


def compare_arms(base: Iterable[ArmTest], other: Iterable[ArmTest]) -> Iterator[tuple[str, Standing]]:
    """Compare all tests that either arm has, by id."""
    before: Mapping[str, ArmTest] = {test.test: test for test in base}
    after: Mapping[str, ArmTest] = {test.test: test for test in other}
    yield from ((name, compare_test(before.get(name), after.get(name))) for name in dict.fromkeys((*before, *after)))
