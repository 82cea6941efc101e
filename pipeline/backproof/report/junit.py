"""junit.xml: one suite per arm with a case per check and model, and one for the stages and their claims.

A base arm that is red as the plan expects is a passed proof, and its output says so: a red test in a CI page must mean
that something is wrong with the backport or with the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from junit_xml import TestCase, TestSuite, to_xml_report_string

from backproof.core.model import Arm, Outcome
from backproof.core.plain_text import cut_text, strip_controls
from backproof.core.redaction import redact
from backproof.report.view import EVIDENCE_GONE
from backproof.verdict.sentences import case_sentence

if TYPE_CHECKING:
    from backproof.records.proof import Case
    from backproof.records.upstream_tests import ArmTests, Compared, OwnTest, UpstreamRecord
    from backproof.report.view import JudgedCase, Part, RunView, StageView

_LIMIT = 8000
_OWN_OUTCOMES = {
    **dict.fromkeys(("crashed", "hung", "error", "not-run"), Outcome.ERROR),
    "failed": Outcome.FAIL,
    "skipped": Outcome.SKIP,
}


def render_junit(view: RunView) -> str:
    """Render the whole run as JUnit XML."""
    claims = [_convert_claim(claim) for claim in view.claims]
    suites = [TestSuite("stages", [*map(_convert_stage, view.stages), *claims])]
    for arm in Arm:
        cases = [_convert_case(judged) for judged in view.judged_cases if judged.case.arm is arm]
        suites += [TestSuite(f"arm {arm}", cases)] if cases else []
    suites += build_own_suites(view.loaded.upstream_tests)
    text: str = to_xml_report_string(suites)
    return text


def _convert_stage(stage: StageView) -> TestCase:
    result = stage.result
    case = TestCase(_clean_text(result.stage), classname="backproof.stage", elapsed_sec=result.seconds)
    if stage.doubt:
        return _mark_case(case, Outcome.ERROR, stage.doubt)
    case.stdout = _clean_text(f"{result.sentence}{' (reused: equal inputs)' if result.reused else ''}")
    # What is no part of the proof says how it ended, and is not red: nothing is wrong with the backport or the run.
    return case if stage.beside else _mark_case(case, stage.outcome, result.sentence)


def _convert_claim(claim: Part) -> TestCase:
    case = TestCase(_clean_text(claim.name), classname="backproof.claim")
    if not claim.holds:
        return _mark_case(case, Outcome.ERROR, EVIDENCE_GONE)
    findings = (f"{finding.severity}: {finding.text}" for finding in claim.findings)
    case.stdout = _clean_text("\n".join([claim.sentence, *findings]))
    return _mark_case(case, claim.outcome, claim.sentence)


def _convert_case(judged: JudgedCase) -> TestCase:
    case = judged.case
    name = _clean_text(f"{case.check} [{case.model}]")
    converted = TestCase(name, classname=f"backproof.{case.arm}", elapsed_sec=case.seconds)
    if not judged.holds:
        return _mark_case(converted, Outcome.ERROR, EVIDENCE_GONE)
    lines = [case_sentence(case), f"{case.steps_failed} of {case.steps} steps failed"]
    if case.verdict == "as-expected" and case.observed != "pass":
        lines.insert(0, f"red as the plan expects: {_explain_red(case)}")
    converted.stdout = _clean_text("\n".join(lines))
    return _mark_case(converted, judged.outcome, case_sentence(case))


def _explain_red(case: Case) -> str:
    if case.role != "proof":
        return f"a {case.role} that the plan declares, not a proof of the backport"
    if case.arm is Arm.BASE:
        return "the fault is there without the backport, so this red passes the proof"
    return "the plan says that this arm alone is not enough"


def build_own_suites(record: UpstreamRecord | None) -> list[TestSuite]:
    """Return a suite per arm of the target's own tests: a test that is red on base or on both arms is not red here."""
    arms: tuple[ArmTests, ...] = record.arms if record else ()
    compared = {test.test: test for test in record.compared} if record else {}
    return [
        TestSuite(
            f"the target's own tests on {arm.arm}",
            [_convert_own(arm.arm, test, compared.get(test.test)) for test in arm.tests],
        )
        for arm in arms
    ]


def _convert_own(arm: Arm, test: OwnTest, compared: Compared | None) -> TestCase:
    classname, name = name_own(test.test)
    case = TestCase(_clean_text(name), classname=_clean_text(classname), elapsed_sec=test.seconds)
    expected = test.bad and (arm is Arm.BASE or (compared and compared.verdict in {"flaky", "bad-everywhere"}))
    if arm is Arm.BASE and test.uncollected:
        case.stdout = _clean_text(f"not run on {arm}: {test.message}")
    elif expected and (test.outcome != "error" or test.flaky):
        sentence = compared.sentence if compared else ""
        case.stdout = _clean_text(f"{test.outcome} on {arm}, {test.bad} of {test.runs} runs; {sentence}")
    elif test.outcome in _OWN_OUTCOMES:
        _mark_case(case, _OWN_OUTCOMES[test.outcome], test.message)
    return case


def name_own(test: str) -> tuple[str, str]:
    """`tests/a/test_b.py::TestC::test_d[e]` is class `tests.a.test_b.TestC` and name `test_d[e]`."""
    head, bracket, parameters = test.partition("[")
    file, *inner = head.split("::")
    path = file.removesuffix(".py").replace("/", ".")
    *classes, name = inner or [""]
    return ".".join([path, *classes]), f"{name}{bracket}{parameters}"


def _mark_case(case: TestCase, outcome: Outcome, message: str) -> TestCase:
    text = _clean_text(message) or str(outcome)
    if outcome in {Outcome.FAIL, Outcome.PERSON}:
        case.add_failure_info(message=text, failure_type=str(outcome))
    elif outcome in {Outcome.ERROR, Outcome.INCONCLUSIVE}:
        case.add_error_info(message=text, error_type=str(outcome))
    elif outcome in {Outcome.SKIP, Outcome.ABORTED}:
        case.add_skipped_info(message=text)
    return case


def _clean_text(text: str) -> str:
    """Mask the text and take controls out: junit-xml takes the escape character out and leaves the rest of a colour; and XML cannot hold a surrogate."""
    return cut_text(strip_controls(redact(text)), _LIMIT)
