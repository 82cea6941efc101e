"""The target's own tests over the arms: what the backport broke, what it mended, what was broken before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.model import Arm, Outcome
from backproof.records.upstream_tests import Compared
from backproof.verdict import fisher

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.records.upstream_tests import ArmTests, OwnTest


def compare_arms(arms: Sequence[ArmTests]) -> tuple[Compared, ...]:
    """Compare each test of the fixed arm with base."""
    by_arm = {arm.arm: {test.test: test for test in arm.tests} for arm in arms}
    base, fixed = by_arm.get(Arm.BASE, {}), by_arm.get(Arm.FIXED, {})
    return tuple(_compare_test(base.get(name) or _find_lost(name, base.values()), test) for name, test in fixed.items())


def _compare_test(base: OwnTest | None, fixed: OwnTest) -> Compared:
    verdict, text = _judge_test(base, fixed)
    # Real backports bring new modules: that the release cannot import them says nothing against a test that passes.
    note = verdict == "unknown" and base is not None and base.uncollected and not (fixed.bad or fixed.is_unknown)
    facts = {"test": fixed.test, "verdict": verdict, "sentence": f"{fixed.test}: {text}", "counts": not note}
    return Compared.model_validate(facts)


def _find_lost(name: str, tests: Iterable[OwnTest]) -> OwnTest | None:
    """Return what stands for a test whose whole file, class or function did not run: it was not collected."""
    lost = (test for test in tests if test.outcome == "not-run")
    return next((test for test in lost if name.startswith((f"{test.test}::", f"{test.test}["))), None)


def _judge_test(base: OwnTest | None, fixed: OwnTest) -> tuple[str, str]:
    if fixed.outcome == "not-run":
        return "unknown", f"did not run: {_explain(fixed)}"
    if fixed.flaky or (base and base.flaky):
        return "flaky", _describe_flaky(base, fixed)
    if unknown := _explain_unknown(base, fixed):
        return "unknown", unknown
    if not fixed.red:
        mended = base is not None and base.red
        return ("mended", f"{_verb(base)} without the backport, passes with it") if mended else ("fine", "fine")
    if base is None or not base.red:
        before = "it does not exist there" if base is None else f"{base.outcome} there"
        return "regression", f"{_verb(fixed)} with the backport, {before} without it: {fixed.message}"
    return "bad-everywhere", f"{_verb(base)} without the backport, too: {base.message}"


def _explain_unknown(base: OwnTest | None, fixed: OwnTest) -> str:
    """Return why the arms cannot be compared; empty when both showed something."""
    if fixed.is_unknown:
        return f"could not be carried out with the backport: {_explain(fixed)}"
    if base is None or not base.is_unknown:
        return ""
    how = "did not run" if base.outcome == "not-run" else "could not be carried out"
    return f"{how} without the backport: {_explain(base)}"


def _explain(test: OwnTest) -> str:
    return test.message or "its file was given up after too many crashes"


def _verb(test: OwnTest | None) -> str:
    verbs = {"crashed": "crashes its process", "hung": "hangs"}
    return verbs.get(test.outcome, "fails") if test else "fails"


def _describe_flaky(base: OwnTest | None, fixed: OwnTest) -> str:
    text = f"flaky: failed {fixed.bad} of {fixed.runs} runs with the backport"
    if base is None:
        return text
    p = fisher.compute_exact_p(fixed.bad, fixed.runs, base.bad, base.runs)
    return f"{text}, {base.bad} of {base.runs} without it; Fisher's exact p = {p:.3g}"


def judge_tests(arms: Sequence[ArmTests], tests: Sequence[Compared], spoiled: str) -> tuple[Outcome, str]:
    """Return the outcome over all tests. A bad card or code of another arm is an ERROR, whatever failed."""
    if spoiled:
        return Outcome.ERROR, spoiled
    if strange := next((f"{arm.arm}: {arm.strange}" for arm in arms if arm.strange), ""):
        return Outcome.ERROR, strange
    counted = [test for test in tests if test.counts]
    for verdict, outcome in (("regression", Outcome.FAIL), ("unknown", Outcome.ERROR)):
        if bad := [test for test in counted if test.verdict == verdict]:
            return outcome, f"{len(bad)} of {len(tests)} of the target's own tests: {bad[0].sentence}"
    if not counted:
        return Outcome.ERROR, f"no test of the target ran on {'both arms' if tests else 'the fixed arm'}"
    return Outcome.PASS, _describe_pass(counted, notes=len(tests) - len(counted))


def _describe_pass(tests: Sequence[Compared], *, notes: int) -> str:
    counts = {name: sum(test.verdict == name for test in tests) for name in ("mended", "bad-everywhere", "flaky")}
    listed = ", ".join(f"{count} {name.replace('-', ' ')}" for name, count in counts.items() if count)
    details = f" ({listed})" if listed else ""
    lost = f"; {notes} not compared: their modules cannot be imported without it" if notes else ""
    return f"{len(tests)} of the target's own tests are no worse with the backport{details}{lost}"
