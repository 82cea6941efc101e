"""junit.xml: one suite per arm with a case per check and model, and one for the stages and their claims.

A base arm that is red as the plan expects is a passed proof, and its output says so: a red test in a CI page must mean
that something is wrong with the backport or with the run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from junit_xml import TestCase, TestSuite, to_xml_report_string

from pipeline.basis import case_outcome
from pipeline.escape import bounded, plain
from pipeline.model import Arm, Outcome
from pipeline.redaction import redact
from pipeline.wording import case_sentence

if TYPE_CHECKING:
    from pipeline.records import Case, Claim, StageResult
    from pipeline.story import Story

_LIMIT = 8000


def report(story: Story) -> str:
    """The whole run as JUnit XML."""
    suites = [TestSuite("stages", _stage_cases(story))]
    cases = story.validate.cases if story.validate else ()
    for arm in Arm:
        own = [_check_case(story, each) for each in cases if each.arm is arm]
        suites += [TestSuite(f"arm {arm}", own)] if own else []
    text: str = to_xml_report_string(suites)
    return text


def _stage_cases(story: Story) -> list[TestCase]:
    cases = [_stage_case(story, each) for each in story.run.stages]
    return cases + [_claim_case(story, each) for each in (story.verify.claims if story.verify else ())]


def _stage_case(story: Story, stage: StageResult) -> TestCase:
    case = TestCase(_clean(stage.stage), classname="backproof.stage", elapsed_sec=stage.seconds)
    outcome = stage.outcome
    if outcome is Outcome.PASS and len(story.holding(stage.evidence)) < max(1, len(stage.evidence)):
        return _mark(case, Outcome.ERROR, "evidence missing or altered")
    case.stdout = _clean(f"{stage.sentence}{' (reused: equal inputs)' if stage.reused else ''}")
    return _mark(case, outcome, stage.sentence)


def _claim_case(story: Story, claim: Claim) -> TestCase:
    case = TestCase(_clean(claim.name), classname="backproof.claim")
    if len(story.holding(claim.evidence)) < len(claim.evidence):
        return _mark(case, Outcome.ERROR, "evidence missing or altered")
    case.stdout = _clean("\n".join([claim.sentence, *(f"{each.severity}: {each.text}" for each in claim.findings)]))
    return _mark(case, claim.outcome, claim.sentence)


def _check_case(story: Story, case: Case) -> TestCase:
    made = TestCase(_clean(f"{case.check} [{case.model}]"), classname=f"backproof.{case.arm}", elapsed_sec=case.seconds)
    if len(story.holding(case.evidence)) < len(case.evidence):
        return _mark(made, Outcome.ERROR, "evidence missing or altered")
    lines = [case_sentence(case), f"{case.steps_failed} of {case.steps} steps failed"]
    if case.verdict == "as-expected" and case.observed != "pass":
        lines.insert(0, f"red as the plan expects: {_MEANS[case.role]}")
    made.stdout = _clean("\n".join(lines))
    return _mark(made, case_outcome(case), case_sentence(case))


_MEANS = {
    "proof": "the fault is there without the backport, so this red passes the proof",
    "limit": "a limit that the plan declares, not a proof of the backport",
    "guard": "the plan expects this guard to be red here",
}


def _mark(case: TestCase, outcome: Outcome, message: str) -> TestCase:
    said = _clean(message) or str(outcome)
    if outcome in {Outcome.FAIL, Outcome.PERSON}:
        case.add_failure_info(message=said, failure_type=str(outcome))
    elif outcome in {Outcome.ERROR, Outcome.INCONCLUSIVE}:
        case.add_error_info(message=said, error_type=str(outcome))
    elif outcome in {Outcome.SKIP, Outcome.ABORTED}:
        case.add_skipped_info(message=said)
    return case


def _clean(text: str) -> str:
    """junit-xml takes the escape character out and leaves the rest of a colour; and XML cannot hold a surrogate."""
    return bounded(plain(redact(text)), _LIMIT)
