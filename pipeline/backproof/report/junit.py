"""junit.xml: one suite per arm with a case per check and model, and one for the stages and their claims.

A base arm that is red as the plan expects is a passed proof, and its output says so: a red test in a CI page must mean
that something is wrong with the backport or with the run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from junit_xml import TestCase, TestSuite, to_xml_report_string
from junitparser import JUnitXml

from backproof.core.model import Arm, Outcome, StageRole
from backproof.core.plain_text import cut_text, strip_controls
from backproof.core.redaction import redact
from backproof.rundir.subject import contradictions
from backproof.verdict.run_verdict import case_outcome, stage_outcome
from backproof.verdict.sentences import case_sentence

if TYPE_CHECKING:
    from backproof.records.proof import Case, Claim, StageResult
    from backproof.rundir.loaded_run import LoadedRun

OWN_TESTS = "upstream-tests/junit.xml"
_LIMIT = 8000


def report(story: LoadedRun) -> str:
    """The whole run as JUnit XML."""
    suites = [TestSuite("stages", _stage_cases(story))]
    for arm in Arm:
        own = [_check_case(story, each) for each in story.cases if each.arm is arm]
        suites += [TestSuite(f"arm {arm}", own)] if own else []
    text: str = to_xml_report_string(suites)
    return _with_own_tests(text, story)


def _with_own_tests(text: str, story: LoadedRun) -> str:
    """The suites of the target's own tests behind ours, where that stage ran and its file holds."""
    if not story.intact(story.file(OWN_TESTS)):
        return text
    whole = JUnitXml.fromstring(text.encode())
    for suite in JUnitXml.fromfile(str(Path(story.folder) / OWN_TESTS)):
        whole.add_testsuite(suite)
    whole.update_statistics()  # type: ignore[no-untyped-call]
    merged: bytes = whole.tostring()  # type: ignore[no-untyped-call]
    return merged.decode()


def _stage_cases(story: LoadedRun) -> list[TestCase]:
    cases = [_stage_case(story, each) for each in story.run.stages]
    return cases + [_claim_case(story, each) for each in story.claims]


def _stage_case(story: LoadedRun, stage: StageResult) -> TestCase:
    case = TestCase(_clean(stage.stage), classname="backproof.stage", elapsed_sec=stage.seconds)
    outcome = stage_outcome(stage, story)
    if outcome is not stage.outcome:
        return _mark(case, Outcome.ERROR, contradictions(story).get(stage.stage, "evidence missing or altered"))
    case.stdout = _clean(f"{stage.sentence}{' (reused: equal inputs)' if stage.reused else ''}")
    # What is no part of the proof says how it ended, and is not red: nothing is wrong with the backport or the run.
    beside = story.registry.role_of(stage.stage) is StageRole.BESIDE
    return case if beside else _mark(case, outcome, stage.sentence)


def _claim_case(story: LoadedRun, claim: Claim) -> TestCase:
    case = TestCase(_clean(claim.name), classname="backproof.claim")
    if claim.evidence and not story.intact(claim.evidence):
        return _mark(case, Outcome.ERROR, "evidence missing or altered")
    case.stdout = _clean("\n".join([claim.sentence, *(f"{each.severity}: {each.text}" for each in claim.findings)]))
    return _mark(case, claim.outcome, claim.sentence)


def _check_case(story: LoadedRun, case: Case) -> TestCase:
    made = TestCase(_clean(f"{case.check} [{case.model}]"), classname=f"backproof.{case.arm}", elapsed_sec=case.seconds)
    if case.evidence and not story.intact(case.evidence):
        return _mark(made, Outcome.ERROR, "evidence missing or altered")
    lines = [case_sentence(case), f"{case.steps_failed} of {case.steps} steps failed"]
    if case.verdict == "as-expected" and case.observed != "pass":
        lines.insert(0, f"red as the plan expects: {_meaning(case)}")
    made.stdout = _clean("\n".join(lines))
    return _mark(made, case_outcome(case), case_sentence(case))


def _meaning(case: Case) -> str:
    if case.role != "proof":
        return f"a {case.role} that the plan declares, not a proof of the backport"
    if case.arm is Arm.BASE:
        return "the fault is there without the backport, so this red passes the proof"
    return "the plan says that this arm alone is not enough"


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
    return cut_text(strip_controls(redact(text)), _LIMIT)
