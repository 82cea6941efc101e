"""Red before green, and FAIL apart from ERROR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pipeline import judge
from pipeline.devices.check_result import CheckResult, Fault, Loaded, TestResult
from pipeline.model import Arm, Outcome
from pipeline.plan import Check, Expected

if TYPE_CHECKING:
    from pipeline.records import Case

PROOF = Expected(base="fault:mte-out-of-range", pick="pass", fixed="pass")
GUARD = Expected(base="pass", pick="pass", fixed="pass", role="guard")
LIMIT = Expected(
    base="fault:mte-out-of-range", pick="fault:silent", fixed="fault:silent", role="limit", meaning="known"
)
HASHES: dict[str, str | None] = {"/site/a.py": "a" * 64}
PASSED = TestResult(nodeid="t::ok", outcome="passed")


def fault(kind: str, *, then: str | None = None) -> TestResult:
    kinds = [kind, *([then] if then else [])]
    faults = tuple(
        Fault(kind=each, task=1, engine="operator", name="update", text=f"{each} at row 5") for each in kinds
    )
    return TestResult(nodeid="t::f", outcome="failed", faults=faults)


def result(*tests: TestResult, sha: str = "a" * 64, ran: str | None = "a" * 64, **more: Any) -> CheckResult:
    loaded = (Loaded(module="a", file="/site/a.py", sha256=sha, source_sha256=ran),)
    return CheckResult(schema=1, nonce="n", tests=tests, loaded=loaded, **more)


def case(expected: Expected, arm: Arm, found: CheckResult) -> Case:
    check = Check(id="c", file="c.py", claim="it works", expect={"raw": expected})
    return judge.case(
        judge.Subject(check=check, model="raw", arm=arm, expected=expected), found, hashes=HASHES, evidence=[]
    )


MTE = fault("mte-out-of-range")


@pytest.mark.parametrize(
    ("expected", "arm", "found", "verdict"),
    [
        (PROOF, Arm.BASE, result(PASSED, MTE), "as-expected"),
        (PROOF, Arm.BASE, result(fault("mte-out-of-range", then="echo")), "as-expected"),
        (PROOF, Arm.BASE, result(PASSED), "not-discriminating"),
        (PROOF, Arm.BASE, result(fault("silent")), "not-reproduced"),
        (PROOF, Arm.BASE, result(MTE, fault("silent")), "not-reproduced"),
        (PROOF, Arm.BASE, result(TestResult(nodeid="t", outcome="failed")), "not-reproduced"),
        (PROOF, Arm.FIXED, result(PASSED), "as-expected"),
        (PROOF, Arm.FIXED, result(PASSED, MTE), "failed"),
        (PROOF, Arm.FIXED, result(TestResult(nodeid="t", outcome="error")), "failed"),
        (GUARD, Arm.BASE, result(PASSED), "as-expected"),
        (GUARD, Arm.BASE, result(MTE), "unexpected"),
        (GUARD, Arm.FIXED, result(MTE), "failed"),
        (LIMIT, Arm.FIXED, result(fault("silent")), "as-expected"),
        (LIMIT, Arm.FIXED, result(PASSED), "unexpected"),
        (PROOF, Arm.FIXED, result(), "error"),
        (PROOF, Arm.BASE, result(TestResult(nodeid="t", outcome="skipped")), "error"),
        (PROOF, Arm.FIXED, result(PASSED, sha="b" * 64), "error"),
        (PROOF, Arm.FIXED, result(PASSED, ran=None), "error"),
        (PROOF, Arm.FIXED, result(PASSED, ran="b" * 64), "error"),
        (PROOF, Arm.FIXED, CheckResult(schema=1, nonce="n", tests=(PASSED,)), "error"),
        (PROOF, Arm.FIXED, result(PASSED, error={"what": "import failed"}), "error"),
    ],
)
def test_verdicts(expected: Expected, arm: Arm, found: CheckResult, verdict: str) -> None:
    assert case(expected, arm, found).verdict == verdict


def test_a_proof_whose_plan_expects_a_pass_on_base_still_proves_nothing() -> None:
    lax = Expected(base="pass", pick="pass", fixed="pass")
    cases = [case(lax, arm, result(PASSED)) for arm in Arm]
    outcome, sentence = judge.outcome(cases)
    assert outcome is Outcome.INCONCLUSIVE
    assert outcome.exit_code == 4
    assert "proves nothing" in sentence


def test_fail_wins_over_error_and_they_never_merge() -> None:
    good = case(PROOF, Arm.BASE, result(MTE))
    broken = case(PROOF, Arm.PICK, result())
    bad = case(PROOF, Arm.FIXED, result(MTE))
    assert judge.outcome([good, broken])[0] is Outcome.ERROR
    assert judge.outcome([good, broken, bad])[0] is Outcome.FAIL
    assert judge.outcome([good])[0] is Outcome.PASS


@pytest.mark.parametrize("cases", [[], [case(GUARD, Arm.BASE, result(PASSED))]])
def test_guards_alone_or_nothing_at_all_are_no_pass(cases: list[Case]) -> None:
    assert judge.outcome(cases)[0] is Outcome.INCONCLUSIVE


def test_observations_are_summed_and_the_first_fault_is_kept() -> None:
    seen = TestResult(nodeid="t", outcome="passed", observations={"rows": "zero", "exact": True, "err": 0.5})
    again = seen.model_copy(update={"observations": {"rows": "poison", "exact": True, "err": 0.25}})
    found = case(PROOF, Arm.BASE, result(seen, again, MTE))
    assert found.observations == {
        "rows": {"zero": 1, "poison": 1},
        "exact": {"true": 2},
        "err": {"min": 0.25, "max": 0.5},
    }
    assert found.first == "t::f: mte-out-of-range at row 5"
    assert found.faults == {"mte-out-of-range": 1}
    assert (found.steps, found.steps_failed) == (3, 1)
