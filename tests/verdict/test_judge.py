"""Red before green, and FAIL apart from ERROR."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import pytest
from backproof.core.level import Level
from backproof.core.model import Arm, Evidence, Outcome
from backproof.devices.check_result import CheckResult, Fault, Loaded, TestResult
from backproof.kit.plan import Expected
from backproof.records.arm_tests import ArmTest
from backproof.records.proof import Case, Verdict
from backproof.records.raised import Raised
from backproof.verdict import judge
from backproof.verdict.endings import classify_ending

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    return TestResult(nodeid=f"t::f-{kind}", outcome="failed", faults=faults)


def result(*tests: TestResult, sha: str = "a" * 64, ran: str | None = "a" * 64, **more: Any) -> CheckResult:
    loaded = (Loaded(module="a", file="/site/a.py", sha256=sha, source_sha256=ran),)
    return CheckResult(schema=2, nonce="n", tests=tests, loaded=loaded, **more)


def rounds(expected: Expected, arm: Arm, *results: CheckResult, needed: int = 1) -> judge.Rounds:
    return judge.Rounds(
        check="c",
        model="raw",
        arm=arm,
        role=expected.role,
        wanted=expected.for_arm(arm),
        results=results,
        needed=needed,
    )


def green(test: TestResult) -> TestResult:
    return TestResult(nodeid=test.nodeid, outcome="passed")


def case(expected: Expected, arm: Arm, *results: CheckResult, base: CheckResult | None = None, needed: int = 1) -> Case:
    """The case of an arm, beside a base on which only what must be red is."""
    faulty = MTE if expected.base != "pass" else green(MTE)
    before = base or result(PASSED, faulty, green(FAILED), ran=HASHES["/site/a.py"])
    own = rounds(expected, arm, *results, needed=needed)
    entries = [own] if arm is Arm.BASE else [rounds(expected, Arm.BASE, before), own]
    return judge.judge_check(entries, dict.fromkeys(Arm, HASHES))[-1]


def observe(found: CheckResult, hashes: Mapping[str, str | None]) -> tuple[str, str]:
    """The word of a base, and why where that is an error."""
    told = judge.judge_check([rounds(PROOF, Arm.BASE, found)], {Arm.BASE: hashes})[0]
    why = told.sentence.partition("could not be told: ")[2] if told.observed == "error" else ""
    return told.observed, why


MTE = fault("mte-out-of-range")
MTE_LINE = "mte-out-of-range at row 5"
FAILED = TestResult(nodeid="t::plain", outcome="failed", message="assert 1 == 2")


def skipped(test: TestResult, how: Literal["skipped", "xfailed"] = "skipped") -> TestResult:
    return TestResult(nodeid=test.nodeid, outcome=how)


@pytest.mark.parametrize(
    ("expected", "arm", "found", "verdict"),
    [
        (PROOF, Arm.BASE, result(PASSED, MTE), "as-expected"),
        (PROOF, Arm.BASE, result(fault("mte-out-of-range", then="secondary")), "as-expected"),
        (PROOF, Arm.BASE, result(PASSED), "not-discriminating"),
        (PROOF, Arm.BASE, result(fault("silent")), "not-reproduced"),
        (PROOF, Arm.BASE, result(MTE, fault("silent")), "not-reproduced"),
        (PROOF, Arm.BASE, result(TestResult(nodeid="t", outcome="failed")), "not-reproduced"),
        (PROOF, Arm.FIXED, result(green(MTE)), "as-expected"),
        (PROOF, Arm.FIXED, result(PASSED, MTE), "unexpected"),
        (PROOF, Arm.FIXED, result(FAILED, MTE), "failed"),
        (PROOF, Arm.PICK, result(MTE), "unexpected"),
        (PROOF, Arm.FIXED, result(PASSED), "not-shown"),
        (PROOF, Arm.FIXED, result(PASSED, skipped(MTE)), "not-shown"),
        (PROOF, Arm.FIXED, result(PASSED, skipped(MTE, "xfailed")), "not-shown"),
        (PROOF, Arm.FIXED, result(TestResult(nodeid="t", outcome="error")), "error"),
        (PROOF, Arm.BASE, result(MTE, TestResult(nodeid="t", outcome="error")), "error"),
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
        (PROOF, Arm.FIXED, CheckResult(schema=2, nonce="n", tests=(PASSED,)), "error"),
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
    bad = case(PROOF, Arm.FIXED, result(FAILED))
    assert judge.outcome([good, broken])[0] is Outcome.ERROR
    assert judge.outcome([good, broken, bad])[0] is Outcome.FAIL
    assert judge.outcome([good]) == (Outcome.PASS, "all 1 cases as the plan expects, 1 of them proofs")


@pytest.mark.parametrize("cases", [[], [case(GUARD, Arm.BASE, result(PASSED))]])
def test_guards_alone_or_nothing_at_all_are_no_pass(cases: list[Case]) -> None:
    assert judge.outcome(cases) == (
        Outcome.INCONCLUSIVE,
        "the plan has no proof for this device: guards alone show nothing",
    )


BROKEN = TestResult(nodeid="t::broken", outcome="error", phase="setup", message="fixture 'rows' not found")
BROKEN_WHY = "error in set-up of t::broken: fixture 'rows' not found"
SKIPPED = TestResult(nodeid="t::skipped", outcome="skipped")
OTHER = Loaded(module="b", file="/site/other.py", sha256="f" * 64, source_sha256="f" * 64)


@pytest.mark.parametrize(
    ("found", "word", "why"),
    [
        (result(PASSED, SKIPPED), "pass", ""),
        (result(PASSED, FAILED), "fail", ""),
        (result(MTE, PASSED), "fault:mte-out-of-range", ""),
        (result(MTE, FAILED), "mixed:fail+mte-out-of-range", ""),
        (result(fault("silent"), MTE), "mixed:mte-out-of-range+silent", ""),
        (result(PASSED, FAILED, MTE, BROKEN), "error", BROKEN_WHY),
        (result(BROKEN, sha="b" * 64), "error", BROKEN_WHY),
        (result(SKIPPED, SKIPPED, pytest_exit=5), "error", "nothing ran (2 skipped, pytest ended with 5)"),
        (result(PASSED, sha="b" * 64), "error", "not the code of this arm was loaded: /site/a.py"),
        (
            CheckResult(schema=2, nonce="n", tests=(PASSED,), loaded=(OTHER,)),
            "error",
            "none of the patch's files was loaded by the check",
        ),
        (result(error={"what": "no module"}), "error", "no module"),
        (result(error={}), "error", "the check could not run"),
        (result(error={"trace": "  a\n\n  b\n c: d \n \n"}), "error", "the check could not run: c: d"),
        (result(error={"what": "w" * 600}), "error", "w" * 500),
    ],
)
def test_one_word_for_what_was_seen_and_why_it_is_an_error(found: CheckResult, word: str, why: str) -> None:
    assert observe(found, HASHES) == (word, why)


def test_all_files_with_other_code_are_named_and_those_beside_the_patch_are_not() -> None:
    hashes = {"/site/a.py": "a" * 64, "/site/b.py": "b" * 64, "/site/c.py": "c" * 64}
    loaded = [
        Loaded(module=name, file=f"/site/{name}.py", sha256=sha * 64, source_sha256=sha * 64)
        for name, sha in (("a", "f"), ("b", "b"), ("c", "f"), ("d", "f"))
    ]
    found = CheckResult(schema=2, nonce="n", tests=(PASSED,), loaded=tuple(loaded))
    assert observe(found, hashes) == (
        "error",
        "not the code of this arm was loaded: /site/a.py, /site/c.py",
    )


def test_a_case_says_all_that_was_seen() -> None:
    evidence = Evidence(path="validate/base/c.json", sha256="e" * 64, claim="c", command="x")
    tests = (
        PASSED.model_copy(update={"seconds": 1.00049}),
        MTE.model_copy(update={"seconds": 0.5}),
        FAILED,
        TestResult(nodeid="t::other", outcome="failed", message="assert 3 == 4"),
        fault("silent", then="mte-out-of-range"),
    )
    told = replace(rounds(PROOF, Arm.BASE, result(*tests)), evidence=(evidence,))
    assert judge.judge_check([told], {Arm.BASE: HASHES})[0] == Case(
        check="c",
        model="raw",
        arm=Arm.BASE,
        role="proof",
        expected="fault:mte-out-of-range",
        observed="mixed:fail+mte-out-of-range+silent",
        verdict="not-reproduced",
        sentence="c under raw on base: showed mixed:fail+mte-out-of-range+silent and not the fault "
        "fault:mte-out-of-range: not reproduced",
        tests=(
            ArmTest(test="t::ok", ending="passed"),
            ArmTest(test="t::f-mte-out-of-range", ending="fault", red=1, kind="mte-out-of-range", line=MTE_LINE),
            ArmTest(test="t::plain", ending="failed", red=1, line="assert 1 == 2"),
            ArmTest(test="t::other", ending="failed", red=1, line="assert 3 == 4"),
            ArmTest(test="t::f-silent", ending="fault", red=1, kind="silent", line="silent at row 5"),
        ),
        steps=5,
        steps_failed=4,
        faults={"mte-out-of-range": 1, "silent": 1},
        first=f"t::f-mte-out-of-range: {MTE_LINE}",
        seconds=1.5,
        evidence=(evidence,),
    )


def test_a_case_without_a_fault_tells_the_first_message_and_is_bounded() -> None:
    assert case(PROOF, Arm.FIXED, result(PASSED)).first == ""
    assert case(PROOF, Arm.FIXED, result(FAILED)).first == "t::plain: assert 1 == 2"
    long = FAILED.model_copy(update={"message": "m" * 2000})
    assert case(PROOF, Arm.FIXED, result(long)).first == f"t::plain: {'m' * 500}"


@pytest.mark.parametrize(
    ("expected", "arm", "found", "sentence"),
    [
        (PROOF, Arm.FIXED, result(green(MTE)), "c under raw on fixed: pass, as the plan expects"),
        (PROOF, Arm.BASE, result(PASSED), "c under raw on base: passes without the fix, so it proves nothing"),
        (GUARD, Arm.BASE, result(FAILED), "c under raw on base: showed fail where the plan expects pass"),
        (
            PROOF,
            Arm.PICK,
            result(FAILED),
            "c under raw on pick: showed fail where it must pass, as it does without the backport: t::plain",
        ),
        (
            PROOF,
            Arm.PICK,
            result(MTE),
            "c under raw on pick: showed fault:mte-out-of-range where the plan expects pass",
        ),
        (
            PROOF,
            Arm.FIXED,
            result(skipped(MTE), PASSED),
            (
                "c under raw on fixed: pass, as the plan expects, and yet no proof: "
                "t::f-mte-out-of-range is red without the backport, and skipped with it"
            ),
        ),
        (PROOF, Arm.PICK, result(error={"what": "no"}), "c under raw on pick: could not be told: no"),
    ],
)
def test_the_sentence_of_each_verdict(expected: Expected, arm: Arm, found: CheckResult, sentence: str) -> None:
    assert case(expected, arm, found).sentence == sentence


WORST_FIRST: tuple[Verdict, ...] = (
    "failed",
    "error",
    "not-discriminating",
    "not-reproduced",
    "not-shown",
    "unexpected",
)


@pytest.mark.parametrize("index", range(len(WORST_FIRST)))
def test_the_worst_verdict_of_all_cases_is_told_with_its_count_and_first_sentence(index: int) -> None:
    good = case(PROOF, Arm.BASE, result(MTE))
    bad = [
        good.model_copy(update={"verdict": word, "sentence": f"{word} {at}"})
        for word in reversed(WORST_FIRST[index:])
        for at in (1, 2)
    ]
    word = WORST_FIRST[index]
    assert judge.outcome([good, *bad]) == (
        judge.OUTCOMES[word],
        f"2 of {len(bad) + 1} cases {word.replace('-', ' ')}: {word} 1",
    )


def test_observations_are_summed_and_the_first_fault_is_kept() -> None:
    seen = TestResult(nodeid="t::1", outcome="passed", observations={"rows": "zero", "exact": True, "err": 0.5})
    again = seen.model_copy(update={"nodeid": "t::2", "observations": {"rows": "poison", "exact": True, "err": 0.25}})
    found = case(PROOF, Arm.BASE, result(seen, again, MTE))
    assert found.observations == {
        "rows": {"zero": 1, "poison": 1},
        "exact": {"true": 2},
        "err": {"min": 0.25, "max": 0.5},
    }
    assert found.first == f"t::f-mte-out-of-range: {MTE_LINE}"
    assert found.faults == {"mte-out-of-range": 1}
    assert (found.steps, found.steps_failed) == (3, 1)


def failing(*classes: str, **facts: Any) -> TestResult:
    raised = (Raised(classes=tuple(f"builtins.{name}" for name in classes)),)
    return TestResult(nodeid="t::f", outcome="failed", raised=raised, message="why\nmore", **facts)


NO_FIXTURE = Raised(classes=("_pytest.fixtures.FixtureLookupError", "builtins.LookupError"))


@pytest.mark.parametrize(
    ("test", "ending"),
    [
        (failing("AssertionError", "Exception", "BaseException"), "failed"),
        (failing("Failed", "OutcomeException", "BaseException"), "failed"),
        (failing("ValueError", "Exception", "BaseException"), "failed"),
        (failing("ModuleNotFoundError", "ImportError", "Exception", "BaseException"), "error"),
        (failing("ConnectionRefusedError", "ConnectionError", "OSError", "Exception"), "error"),
        (failing("TimeoutError", "OSError", "Exception"), "error"),
        (failing("MemoryError", "Exception"), "error"),
        (failing("OSError", "Exception", faults=MTE.faults), "fault"),
        (TestResult(nodeid="t", outcome="error", phase="setup"), "error"),
        (failing().model_copy(update={"raised": (NO_FIXTURE,)}), "error"),
        (PASSED, "passed"),
        (SKIPPED, "skipped"),
    ],
)
def test_an_error_says_that_a_test_could_not_be_carried_out(test: TestResult, ending: str) -> None:
    assert classify_ending(test) == ending


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize("expected", [PROOF, GUARD, LIMIT])
def test_an_error_is_neither_red_nor_a_failure_on_any_arm(arm: Arm, expected: Expected) -> None:
    judged = case(expected, arm, result(PASSED, failing("ImportError")))
    assert (judged.observed, judged.verdict, judge.OUTCOMES[judged.verdict]) == ("error", "error", Outcome.ERROR)
    assert judged.sentence.endswith("could not be told: error in call of t::f: ImportError: why more")


@pytest.mark.parametrize("arm", Arm)
@pytest.mark.parametrize("expected", [PROOF, GUARD, LIMIT])
def test_an_error_beside_failures_makes_the_case_an_error(arm: Arm, expected: Expected) -> None:
    judged = case(expected, arm, result(PASSED, MTE, FAILED, BROKEN))
    assert (judged.observed, judged.verdict) == ("error", "error")
    assert judged.sentence == f"c under raw on {arm}: could not be told: {BROKEN_WHY}"
    assert (judged.steps, judged.steps_failed) == (4, 3)
    assert judged.first == f"t::f-mte-out-of-range: {MTE_LINE}"
    assert judge.outcome([case(PROOF, Arm.BASE, result(MTE)), judged])[0] is Outcome.ERROR


def test_a_test_that_changes_its_ending_is_flaky_and_no_proof() -> None:
    told = case(PROOF, Arm.BASE, result(MTE), result(green(MTE)), result(MTE), needed=2)
    assert (told.observed, told.verdict) == ("flaky", "not-reproduced")
    assert "t::f-mte-out-of-range was red in 2 of 3 runs" in told.sentence
    assert case(PROOF, Arm.BASE, result(MTE, PASSED), result(MTE)).observed == "flaky", "it is not there every time"
    assert case(PROOF, Arm.FIXED, result(green(MTE)), result(MTE), needed=2).verdict == "unexpected"
    assert case(PROOF, Arm.FIXED, result(green(MTE)), result(FAILED), needed=2).verdict == "unexpected"
    assert case(PROOF, Arm.BASE, result(MTE), result(MTE), needed=2).verdict == "as-expected"


@pytest.mark.parametrize(
    ("arm", "verdict"), [(Arm.BASE, "not-shown"), (Arm.PICK, "as-expected"), (Arm.FIXED, "not-shown")]
)
def test_a_proof_that_ran_less_often_than_it_must_is_none(arm: Arm, verdict: str) -> None:
    assert case(PROOF, arm, result(MTE if arm is Arm.BASE else green(MTE)), needed=2).verdict == verdict
    assert case(GUARD, arm, result(PASSED), needed=2).verdict == "as-expected"


def test_without_a_device_once_is_not_enough() -> None:
    assert [judge.count_rounds(level, 1) for level in Level] == [2, 2, 2, 1, 1]
    assert [judge.count_rounds(level, 5) for level in Level] == [5] * 5


def test_a_device_that_went_bad_makes_an_error_of_everything() -> None:
    entry = replace(rounds(PROOF, Arm.BASE, result(MTE)), spoiled="a card went bad")
    told = judge.judge_check([entry], {Arm.BASE: HASHES})[0]
    assert (told.observed, told.verdict) == ("error", "error")
    assert "a card went bad" in told.sentence
