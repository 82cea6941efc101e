"""Judges the checks of a run again from what their processes left; what validate.json says of them is never believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import ValidationError

from backproof.core.level import Level
from backproof.core.model import Arm
from backproof.devices import DEVICES
from backproof.devices.check_result import CheckResult
from backproof.devices.operator_source import leave_source_out
from backproof.records.proof import ValidateRecord
from backproof.verdict.judge import Rounds, count_rounds, judge_check, make_broken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.core.model import Evidence
    from backproof.kit.plan import Plan
    from backproof.records.proof import Case
    from backproof.rundir.loaded_run import LoadedRun, RunFiles


def recheck_results(files: RunFiles, loaded: LoadedRun) -> LoadedRun:
    """Return the run with the cases that its raw results give, and a contradiction where its record has others."""
    record = loaded.validate
    if record is None:
        return loaded
    name = loaded.registry.name_of(ValidateRecord)
    cases = judge_raw_results(record, files, name)
    written = {_list_facts(case) for case in record.cases}
    # What is missing or altered shows nothing: that is an error of its case, and contradicts nobody.
    whole = (case for case in cases if all(map(files.holds, case.evidence)))
    differing = next((case for case in whole if _list_facts(case) not in written), None)
    rechecked = replace(loaded, records={**loaded.records, ValidateRecord: record.model_copy(update={"cases": cases})})
    if differing is None:
        return rechecked
    sentence = (
        f"{loaded.registry.path_of(ValidateRecord)} says something else of {differing.check} under {differing.model} "
        f"on {differing.arm} than the raw results of its tests, which show {differing.observed}"
    )
    return replace(rechecked, contradictions={name: sentence, **loaded.contradictions})


def find_unplanned(loaded: LoadedRun, plan: Plan) -> dict[str, str]:
    """Say, by stage, which case of the plan the record of the checks has not, or has with another expectation."""
    record = loaded.validate
    if record is None or record.device not in DEVICES:
        return {}
    told = {(case.check, case.model, case.arm): (case.role, case.expected) for case in record.cases}
    for check in (plan if loaded.run.settings.operator_source else leave_source_out(plan)).check:
        for model, expected in check.expected_under(DEVICES[record.device].models(plan)).items():
            for arm in Arm:
                if told.get((check.id, model, arm)) != (expected.role, expected.for_arm(arm)):
                    name, path = loaded.registry.name_of(ValidateRecord), loaded.registry.path_of(ValidateRecord)
                    return {name: f"{path} has no case of {check.id} under {model} on {arm} as the plan asks for it"}
    return {}


def judge_raw_results(record: ValidateRecord, files: RunFiles, folder: str) -> tuple[Case, ...]:
    """Judge every case of a record from its raw results.

    Args:
        folder: of the stage.
    """
    groups: dict[tuple[str, str], dict[Arm, Case]] = {}
    for case in record.cases:
        groups.setdefault((case.check, case.model), {})[case.arm] = case
    level = DEVICES[record.device].LEVEL if record.device in DEVICES else Level.PICKED
    judged = {
        (case.check, case.model, case.arm): case
        for (check, _), arms in groups.items()
        for case in judge_check(
            [_read_rounds(record, arms[arm], files, folder, level) for arm in Arm if arm in arms], record.hashes
        )
    }
    return tuple(judged[case.check, case.model, case.arm] for case in record.cases)


def _read_rounds(record: ValidateRecord, case: Case, files: RunFiles, folder: str, level: Level) -> Rounds:
    return Rounds(
        check=case.check,
        model=case.model,
        arm=case.arm,
        role=case.role,
        wanted=case.expected,
        results=tuple(_read_results(case, files, folder)),
        evidence=case.evidence,
        needed=count_rounds(level, record.rounds.get(case.check, 1)),
        spoiled=record.spoiled,
    )


def _read_results(case: Case, files: RunFiles, folder: str) -> Iterable[CheckResult]:
    """A file that is not as it was, or is no result of this case, shows nothing, and so does one that counts twice."""
    for number, evidence in enumerate(case.evidence, 1):
        turn = case.arm.value if number == 1 else f"{case.arm}.{number}"
        path = f"{folder}/{turn}/{case.check}.{case.model}.json"
        yield (
            _read_result(files, evidence)
            if evidence.path == path
            else make_broken(
                f"{PurePosixPath(evidence.path).name} is not what {case.check} under {case.model} left in round {number}"
            )
        )


def _read_result(files: RunFiles, evidence: Evidence) -> CheckResult:
    if not files.holds(evidence):
        return make_broken(f"{evidence.path} is missing or altered")
    try:
        return CheckResult.model_validate_json(files.read_bytes(evidence.path))
    except (OSError, ValidationError):
        return make_broken(f"{evidence.path} is no result of a check")


def _list_facts(case: Case) -> object:
    """What decides. Words and times are told as they come from the raw results: in a bundle, both have been masked."""
    tests = tuple((test.test, test.ending, test.runs, test.red, test.kind) for test in case.tests)
    return (case.check, case.model, case.arm, case.role, case.expected, case.observed, case.verdict, tests)
