"""What a run amounts to: outcome, level, arms and one sentence, computed from evidence of their own kind.

A stage's word is not enough: a pass whose evidence is missing or altered, or whose record cannot be read or names another
branch or device than the run, is "could not tell"; a check that does not tell the arms apart proves nothing, whatever the stage made of it. All but `summarise` is
pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backproof.core.level import Level
from backproof.core.model import Arm, Outcome, StageRole, worst_outcome
from backproof.devices import DEVICES
from backproof.records.proof import (
    ArmSummary,
    FixupRecord,
    PickRecord,
    ReportRecord,
    ValidateRecord,
    VerifyRecord,
)
from backproof.records.serving import ServeRecord
from backproof.rundir.loaded_run import before_report, load_run
from backproof.verdict import judge, sentences
from backproof.verdict.raw_results import find_unplanned, recheck_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.core.model import Record
    from backproof.kit.plan import Plan
    from backproof.records.proof import Case, DeviceInventory, Run, StageResult
    from backproof.rundir.loaded_run import LoadedRun, RunFiles
    from backproof.rundir.registry import Registry

UNFINISHED = "the command has not finished"


def read_evidence(files: RunFiles, run: Run, registry: Registry) -> LoadedRun:
    """Return what the files of a run show now: evidence that holds, and the cases that its raw results give.

    Every reader of a run begins here or with `read_run`.
    """
    return recheck_results(files, load_run(files, run, registry))


def read_run(files: RunFiles, written: Run, registry: Registry, plan: Plan | None = None) -> LoadedRun:
    """Return a run judged from its evidence, whatever run.json says; a report is no evidence for itself.

    A command that never ended left no verdict, however far it got.

    Args:
        plan: of the run's kit, where the reader has it: a check that it asks for must have run.
    """
    loaded = read_evidence(files, before_report(written, registry), registry)
    if plan:
        loaded = replace(loaded, contradictions={**find_unplanned(loaded, plan), **loaded.contradictions})
    return replace(loaded, run=as_left(written, judge_run(loaded)))


def summarise_run(run: Run, files: RunFiles, registry: Registry) -> Run:
    """Return the run as run.json should have it: judged from what is there now, with the reports that are there."""
    loaded = read_evidence(files, run, registry)
    report = loaded.find_record(ReportRecord)
    names = {name: name for name in (report.files if report else ()) if loaded.is_intact(loaded.find_file(name))}
    return judge_run(loaded).model_copy(update={"files": names})


def mark_unfinished(run: Run) -> Run:
    """Return what run.json says until the end: a command that is killed must not leave the verdict of another one."""
    facts: dict[str, Any] = {
        "outcome": Outcome.RUNNING,
        "level": None,
        "sentence": UNFINISHED,
        "arms": {},
        "files": {},
    }
    return run.model_copy(update=facts)


def as_left(said: Run, run: Run) -> Run:
    """A run that is judged again, unless its command never ended: what it got to is then no verdict.

    Args:
        said: as run.json has it.
        run: the same, judged from its evidence.
    """
    return mark_unfinished(run) if said.outcome is Outcome.RUNNING else run


def judge_run(story: LoadedRun) -> Run:
    """The story's run with outcome, level, arms, sentence, evidence and limits filled in."""
    outcome, reached = run_outcome(story), compute_level(story)
    return story.run.model_copy(
        update={
            "outcome": outcome,
            "level": None if reached is None else int(reached),
            "arms": arm_summaries(story.cases),
            "sentence": _sentence(story, outcome, reached),
            "evidence": story.evidence,
            "limits": (*(story.validate.limits if story.validate else ()), *declared_limits(story.cases)),
        }
    )


def compute_level(story: LoadedRun) -> Level | None:
    """How strong the proof is; None when the backport did not even land."""
    if not (_has_passed(story, PickRecord) and _has_passed(story, FixupRecord)):
        return None
    if not is_loaded(story):
        return Level.PICKED
    if story.validate is None or not is_proved(story):
        return Level.LOADED
    if inventory_holds(story.inventory, story.validate):
        return Level.SERVED if is_served(story) else Level.DEVICE
    return Level.EMULATED if _device_level(story.validate.device) is Level.EMULATED else Level.LOADED


def is_loaded(story: LoadedRun) -> bool:
    """Whether the target was shown, from inside, to load the whole backport."""
    if story.verify is None or story.verify.arm is not Arm.FIXED or not _has_passed(story, VerifyRecord):
        return False
    named = {claim.name for claim in story.claims}
    counted = [claim for claim in story.claims if not (claim.name == "reached" and claim.outcome is Outcome.SKIP)]
    fine = all(item.outcome is Outcome.PASS and story.is_intact(item.evidence) for item in counted)
    return fine and named >= {"loaded", "complete"}


def is_proved(story: LoadedRun) -> bool:
    """Whether the checks passed, each with evidence, and told the arms apart."""
    fine = all(case_outcome(case) is Outcome.PASS and story.is_intact(case.evidence) for case in story.cases)
    return _has_passed(story, ValidateRecord) and fine and bool(find_proofs(story.cases))


def is_served(story: LoadedRun) -> bool:
    """Whether services that we started told the arms apart under load, on the very device of the checks, in this boot."""
    record, inventory = story.serve, story.inventory
    if record is None or inventory is None or record.inventory != inventory or not _has_passed(story, ServeRecord):
        return False
    here = ("started", inventory.host, inventory.boot_id)
    ours = all((item.origin, item.host, item.boot_id) == here and not item.spoiled for item in record.rounds)
    fine = all(case_outcome(case) is Outcome.PASS and story.is_intact(case.evidence) for case in record.cases)
    return bool(record.rounds) and ours and fine and bool(find_proofs(record.cases))


def inventory_holds(inventory: DeviceInventory | None, validate: ValidateRecord) -> bool:
    """Whether the results come from a real device: it named itself and its software, on this host, in this boot."""
    if inventory is None or inventory.stand_in or _device_level(validate.device) is not Level.DEVICE:
        return False
    facts = validate.device_facts
    here = (validate.device, facts.get("host"), facts.get("boot_id"))
    same = (inventory.device, inventory.host, inventory.boot_id) == here
    return same and all((inventory.host, inventory.boot_id, inventory.driver, inventory.runtime))


def _device_level(device: str) -> Level | None:
    """What a pass there can carry; nothing for a name that we do not know."""
    found = DEVICES.get(device)
    return found.LEVEL if found else None


def find_proofs(cases: Iterable[Case]) -> tuple[tuple[str, str], ...]:
    """The (check, model) pairs that are red on base and green on fixed."""
    seen = {(case.check, case.model, case.arm): case.observed for case in cases if case.role == "proof"}
    red = [
        (check, model)
        for (check, model, arm), observed in seen.items()
        if arm is Arm.BASE and observed not in {"pass", "error"}
    ]
    return tuple(item for item in red if seen.get((*item, Arm.FIXED)) == "pass")


def case_outcome(case: Case) -> Outcome:
    """What one case means for the run; a proof that passes on base is none, whatever its verdict says."""
    if case.role == "proof" and case.arm is Arm.BASE and case.observed == "pass":
        return Outcome.INCONCLUSIVE
    return judge.OUTCOMES[case.verdict]


def stage_outcome(stage: StageResult, story: LoadedRun) -> Outcome:
    """The stage's own outcome, unless it is of another subject, or a pass that nothing shows any more."""
    if stage.stage in story.contradictions:
        return Outcome.ERROR
    if stage.outcome is not Outcome.PASS:
        return stage.outcome
    kind = story.registry.record_of(stage.stage)
    counts = story.registry.role_of(stage.stage) is StageRole.PROOF
    unread = counts and kind is not None and story.find_record(kind) is None
    return Outcome.PASS if story.is_intact(stage.evidence) and not unread else Outcome.ERROR


def _has_passed(story: LoadedRun, kind: type[Record]) -> bool:
    result = story.find_result(kind)
    return result is not None and stage_outcome(result, story) is Outcome.PASS


def run_outcome(story: LoadedRun) -> Outcome:
    """Worst wins. Nothing ran, or nothing but skips: could not tell; and what is of another subject is no FAIL of this one."""
    if story.contradictions:
        return Outcome.ERROR
    outcomes = [stage_outcome(result, story) for result in story.results_with(StageRole.PROOF)]
    if not set(outcomes) - {Outcome.SKIP, Outcome.ABORTED}:
        return Outcome.ERROR
    return worst_outcome(outcome for outcome in (*outcomes, *_details(story)) if outcome is not Outcome.SKIP)


def _details(story: LoadedRun) -> Iterator[Outcome]:
    yield from (claim.outcome for claim in story.claims)
    cases = (*story.cases, *story.served)
    yield from (case_outcome(case) for case in cases)
    told = [claim.evidence for claim in story.claims] + [case.evidence for case in cases]
    if any(evidence and not story.is_intact(evidence) for evidence in told):
        yield Outcome.ERROR
    if _has_passed(story, ValidateRecord) and not find_proofs(story.cases):
        yield Outcome.INCONCLUSIVE
    yield from (result.outcome for result in story.results_with(StageRole.AFTERWARDS))


def arm_summaries(cases: Iterable[Case]) -> dict[Arm, ArmSummary]:
    """Each arm over all its cases, in the order base, pick, fixed."""
    cases = tuple(cases)
    return {arm: _arm_summary(own) for arm in Arm if (own := [case for case in cases if case.arm is arm])}


def _arm_summary(cases: list[Case]) -> ArmSummary:
    erred = [case for case in cases if case.verdict == "error"]
    red = [case for case in cases if _is_red(case)]
    return ArmSummary(
        outcome=worst_outcome([Outcome.PASS, *(Outcome.FAIL for _ in red), *(Outcome.ERROR for _ in erred)]),
        as_expected=all(case_outcome(case) is Outcome.PASS for case in cases),
        sentence=sentences.arm_sentence(cases, red),
    )


def _is_red(case: Case) -> bool:
    """Whether a case counts against its arm: not what the plan says of guards and limits, nor what a later arm is for."""
    later = case.role != "proof" or (case.arm is not Arm.BASE and case.expected != "pass")
    return case.observed != "pass" and case.verdict != "error" and not (later and case.verdict == "as-expected")


def declared_limits(cases: Iterable[Case]) -> tuple[str, ...]:
    """What stays red with the whole backport, as the plan says that it would."""
    held = [case for case in cases if case.role == "limit" and case.arm is Arm.FIXED and case.observed != "pass"]
    return tuple(dict.fromkeys(item.sentence for item in held))


def _sentence(story: LoadedRun, outcome: Outcome, reached: Level | None) -> str:
    if outcome is not Outcome.PASS:
        return sentences.other_sentence(outcome, _cause(story, outcome))
    return sentences.pass_sentence(
        reached,
        place=story.run.place,
        device=story.validate.device if story.validate else "",
        proofs=len(find_proofs(story.cases)),
        limits=len(declared_limits(story.cases)),
    )


def _cause(story: LoadedRun, outcome: Outcome) -> str:
    """The first thing that has the run's outcome, in the words of the one who found it."""
    if other := story.contradictions:
        return next(iter(other.values()))
    for stage in story.stages:
        role = story.registry.role_of(stage.stage)
        if role is not StageRole.BESIDE and stage.outcome is outcome:
            return f"{stage.stage}: {stage.sentence}"
        if role is StageRole.PROOF and stage_outcome(stage, story) is outcome:
            return f"{stage.stage}: evidence missing or altered"
    found = [sentences.case_sentence(case) for case in (*story.cases, *story.served) if case_outcome(case) is outcome]
    found += [f"{claim.name}: {claim.sentence}" for claim in story.claims if claim.outcome is outcome]
    return next(iter(found), sentences.NOTHING_ELSE[outcome])
