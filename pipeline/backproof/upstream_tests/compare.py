"""The target's own tests over the arms: what the backport broke, what it mended, what was broken before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

from backproof.core.escape import plain
from backproof.core.model import Arm, Outcome
from backproof.core.redaction import redact
from backproof.records.upstream_tests import Compared
from backproof.upstream_tests.worker import junit_name
from backproof.verdict import fisher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.upstream_tests import ArmTests, OwnTest


def compared(arms: Sequence[ArmTests]) -> tuple[Compared, ...]:
    """Each test of the fixed arm, held against base."""
    by_arm = {each.arm: {test.test: test for test in each.tests} for each in arms}
    base, fixed = by_arm.get(Arm.BASE, {}), by_arm.get(Arm.FIXED, {})
    return tuple(_one(name, base.get(name), test) for name, test in fixed.items())


def _one(name: str, base: OwnTest | None, fixed: OwnTest) -> Compared:
    def said(verdict: str, text: str) -> Compared:
        return Compared.model_validate({"test": name, "verdict": verdict, "sentence": f"{name}: {text}"})

    if fixed.outcome == "not-run":
        return said("unknown", f"did not run: {fixed.message or 'its file was given up after too many crashes'}")
    if fixed.outcome == "error":
        return said("unknown", f"could not be carried out with the backport: {fixed.message}")
    if fixed.flaky or (base and base.flaky):
        return said("flaky", _flaky(base, fixed))
    if not fixed.red:
        mended = base is not None and base.red and base.outcome != "error"
        return said("mended", f"{_word(base)} without the backport, passes with it") if mended else said("fine", "fine")
    if base is None or not base.red:
        before = "it does not exist there" if base is None else f"{base.outcome} there"
        return said("regression", f"{_word(fixed)} with the backport, {before} without it: {fixed.message}")
    return said("bad-everywhere", f"{_word(base)} without the backport, too: {base.message}")


def _word(test: OwnTest | None) -> str:
    words = {"crashed": "crashes its process", "hung": "hangs"}
    return words.get(test.outcome, "fails") if test else "fails"


def _flaky(base: OwnTest | None, fixed: OwnTest) -> str:
    text = f"flaky: failed {fixed.bad} of {fixed.runs} runs with the backport"
    if base is None:
        return text
    p = fisher.exact(fixed.bad, fixed.runs, base.bad, base.runs)
    return f"{text}, {base.bad} of {base.runs} without it; Fisher's exact p = {p:.3g}"


def outcome(arms: Sequence[ArmTests], tests: Sequence[Compared], spoiled: str) -> tuple[Outcome, str]:
    """What all of it means. A bad card or other code than the arm's: could not tell, whatever failed."""
    if spoiled:
        return Outcome.ERROR, spoiled
    if strange := next((f"{each.arm}: {each.strange}" for each in arms if each.strange), ""):
        return Outcome.ERROR, strange
    order = (("regression", Outcome.FAIL), ("unknown", Outcome.ERROR))
    for verdict, meaning in order:
        if found := [each for each in tests if each.verdict == verdict]:
            return meaning, f"{len(found)} of {len(tests)} of the target's own tests: {found[0].sentence}"
    if not tests:
        return Outcome.ERROR, "no test of the target ran on the fixed arm"
    counts = {name: sum(each.verdict == name for each in tests) for name in ("mended", "bad-everywhere", "flaky")}
    told = ", ".join(f"{count} {name.replace('-', ' ')}" for name, count in counts.items() if count)
    return (
        Outcome.PASS,
        f"{len(tests)} of the target's own tests are no worse with the backport{f' ({told})' if told else ''}",
    )


def junit(arms: Sequence[ArmTests], tests: Sequence[Compared]) -> str:
    """All arms in one file, a suite per arm.

    A red test in a CI page must mean that something is wrong with the backport or with the run: what is red on base, or
    red on both arms, or flaky, says so in its output and is not red here.
    """
    words = {each.test: each for each in tests}
    whole = JUnitXml()
    for arm in arms:
        suite = TestSuite(f"the target's own tests on {arm.arm}")
        for test in arm.tests:
            suite.add_testcase(_case(arm.arm, test, words.get(test.test)))
        whole.add_testsuite(suite)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    text: bytes = whole.tostring()  # type: ignore[no-untyped-call]
    return text.decode()


def _case(arm: Arm, test: OwnTest, said: Compared | None) -> TestCase:
    classname, name = junit_name(test.test)
    case = TestCase(_clean(name), classname=_clean(classname), time=test.seconds)
    message = _clean(test.message)
    if test.bad and (arm is Arm.BASE or (said and said.verdict in {"flaky", "bad-everywhere"})):
        case.system_out = _clean(
            f"{test.outcome} on {arm}, {test.bad} of {test.runs} runs; {said.sentence if said else ''}"
        )
    elif test.outcome == "skipped":
        case.result = [Skipped(message)]
    elif test.outcome in {"crashed", "hung", "error", "not-run"}:
        case.result = [Error(message, test.outcome)]
    elif test.outcome == "failed":
        case.result = [Failure(message, "failed")]
    return case


def _clean(text: str) -> str:
    return plain(redact(text))[:4000]
