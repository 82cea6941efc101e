"""What a run amounts to: outcome, level and arms, computed from evidence of their own kind. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline import wording
from pipeline.basis import AFTERWARDS, Basis, case_outcome, passed, proofs, stage_outcome
from pipeline.model import Arm, Level, Outcome, worst
from pipeline.records import ArmSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pipeline.model import Evidence
    from pipeline.records import (
        Case,
        DeviceInventory,
        FixupRecord,
        PickRecord,
        Run,
        StageResult,
        ValidateRecord,
        VerifyRecord,
    )

WITHOUT_HARDWARE = frozenset({"emulator", "cpu"})


def summarise(
    run: Run,
    *,
    pick: PickRecord | None,
    fixup: FixupRecord | None,
    verify: VerifyRecord | None,
    validate: ValidateRecord | None,
    altered: frozenset[str],
    inventory: DeviceInventory | None = None,
) -> Run:
    """The run with outcome, level, arms, sentence, evidence and limits filled in.

    `altered` are the paths of evidence that is missing or no longer has its hash (see `pipeline.story`).
    """
    basis = Basis(
        stages=run.stages,
        pick=pick,
        fixup=fixup,
        verify=verify,
        validate=validate,
        inventory=inventory,
        altered=altered,
    )
    outcome, reached = run_outcome(basis), level(basis)
    return run.model_copy(
        update={
            "outcome": outcome,
            "level": None if reached is None else int(reached),
            "arms": arm_summaries(basis.cases),
            "sentence": _sentence(basis, outcome, reached, branch=run.settings.branch),
            "evidence": evidence_of(run.stages, verify=verify, validate=validate),
            "limits": (*(validate.limits if validate else ()), *_declared_limits(basis.cases)),
        }
    )


def evidence_of(
    stages: Iterable[StageResult], *, verify: VerifyRecord | None, validate: ValidateRecord | None
) -> tuple[Evidence, ...]:
    """All evidence, once per path; that of the report comes last, so that the numbers in the report hold."""
    stages = tuple(stages)
    found = [each for stage in stages if stage.stage not in AFTERWARDS for each in stage.evidence]
    found += [each for claim in (verify.claims if verify else ()) for each in claim.evidence]
    found += [each for case in (validate.cases if validate else ()) for each in case.evidence]
    found += [each for stage in stages if stage.stage in AFTERWARDS for each in stage.evidence]
    return tuple({each.path: each for each in reversed(found)}[path] for path in dict.fromkeys(e.path for e in found))


def level(basis: Basis) -> Level | None:
    """How strong the proof is; None when the backport did not even land."""
    if not (passed(basis, "pick") and passed(basis, "fixup") and basis.pick and basis.fixup):
        return None
    if not is_loaded(basis):
        return Level.PICKED
    if basis.validate is None or not is_proved(basis):
        return Level.LOADED
    if inventory_holds(basis.inventory, basis.validate):
        return Level.DEVICE
    return Level.EMULATED if basis.validate.device in WITHOUT_HARDWARE else Level.LOADED


def is_loaded(basis: Basis) -> bool:
    """Whether the target was shown to load the whole backport, from inside."""
    if basis.verify is None or basis.verify.arm is not Arm.FIXED or not passed(basis, "verify"):
        return False
    named = {each.name for each in basis.claims}
    skippable = [each for each in basis.claims if each.name == "reached" and each.outcome is Outcome.SKIP]
    return named >= {"loaded", "complete"} and all(
        each in skippable or (each.outcome is Outcome.PASS and basis.intact(each.evidence)) for each in basis.claims
    )


def is_proved(basis: Basis) -> bool:
    """Whether the checks passed with evidence, and told the arms apart."""
    fine = all(case_outcome(each) is Outcome.PASS and basis.intact(each.evidence) for each in basis.cases)
    return passed(basis, "validate") and fine and bool(proofs(basis.cases))


def inventory_holds(inventory: DeviceInventory | None, validate: ValidateRecord) -> bool:
    """Whether the results come from a real device: it named itself and its software, on this host, in this boot."""
    if inventory is None or inventory.stand_in or validate.device in WITHOUT_HARDWARE:
        return False
    facts = validate.device_facts
    same = (inventory.device, inventory.host, inventory.boot_id) == (
        validate.device,
        facts.get("host"),
        facts.get("boot_id"),
    )
    return same and all((inventory.host, inventory.boot_id, inventory.driver, inventory.runtime))


def run_outcome(basis: Basis) -> Outcome:
    """Worst wins. Nothing ran, or nothing but skips: could not tell."""
    told = [stage_outcome(each, basis) for each in basis.stages if each.stage not in AFTERWARDS]
    if not set(told) - {Outcome.SKIP, Outcome.ABORTED}:
        return Outcome.ERROR
    return worst(each for each in (*told, *_details(basis)) if each is not Outcome.SKIP)


def _details(basis: Basis) -> Iterator[Outcome]:
    yield from (each.outcome for each in basis.claims)
    yield from (case_outcome(each) for each in basis.cases)
    told = [*(each.evidence for each in basis.claims), *(each.evidence for each in basis.cases)]
    if any(evidence and not basis.intact(evidence) for evidence in told):
        yield Outcome.ERROR
    if passed(basis, "validate") and not proofs(basis.cases):
        yield Outcome.INCONCLUSIVE
    yield from (each.outcome for each in basis.stages if each.stage in AFTERWARDS)


def arm_summaries(cases: Iterable[Case]) -> dict[Arm, ArmSummary]:
    """Each arm over all its cases, in the order base, pick, fixed."""
    cases = tuple(cases)
    return {arm: _arm_summary(own) for arm in Arm if (own := [each for each in cases if each.arm is arm])}


def _arm_summary(cases: list[Case]) -> ArmSummary:
    red = [each for each in cases if each.observed != "pass" and not _is_quiet(each)]
    erred = [each for each in cases if each.verdict == "error"]
    outcome = worst([Outcome.PASS, *([Outcome.FAIL] if len(red) > len(erred) else []), *(Outcome.ERROR for _ in erred)])
    as_expected = all(case_outcome(each) is Outcome.PASS for each in cases)
    return ArmSummary(outcome=outcome, as_expected=as_expected, sentence=wording.arm_sentence(cases, red))


def _is_quiet(case: Case) -> bool:
    return case.role == "guard" and case.verdict == "as-expected"


def _declared_limits(cases: Iterable[Case]) -> tuple[str, ...]:
    held = [each for each in cases if each.role == "limit" and each.arm is Arm.FIXED and each.observed != "pass"]
    return tuple(dict.fromkeys(f"{each.check} under {each.model}: {each.sentence}" for each in held))


def _sentence(basis: Basis, outcome: Outcome, reached: Level | None, *, branch: str) -> str:
    if outcome is Outcome.PASS:
        return wording.pass_sentence(
            reached,
            branch=branch,
            device=basis.validate.device if basis.validate else "",
            proofs=len(proofs(basis.cases)),
            limits=len(_declared_limits(basis.cases)),
        )
    return wording.other_sentence(outcome, _cause(basis, outcome))


def _cause(basis: Basis, outcome: Outcome) -> str:
    """The first thing that has the run's outcome, in the words of the one who found it."""
    for stage in basis.stages:
        if stage.outcome is outcome:
            return f"{stage.stage}: {stage.sentence}"
        if stage.stage not in AFTERWARDS and stage_outcome(stage, basis) is outcome:
            return f"{stage.stage}: evidence missing or altered"
    for case in basis.cases:
        if case_outcome(case) is outcome:
            return wording.case_sentence(case)
    for claim in basis.claims:
        if claim.outcome is outcome:
            return f"{claim.name}: {claim.sentence}"
    return wording.NOTHING_ELSE[outcome]
