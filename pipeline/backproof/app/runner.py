"""The one loop over the stages: order, reuse, abort, durations, and what each kind of failure becomes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.core.errors import BackproofError, Interrupted, PersonNeeded, PlanError, host_error
from backproof.core.model import Finding, Outcome
from backproof.records.proof import Run, StageResult
from backproof.rundir.ledger import digest_of, now
from backproof.stages import STAGES
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.core.model import Evidence
    from backproof.rundir.context import Context, Stage

LAST = "report"


def execute(ctx: Context, run: Run, stages: Sequence[Stage]) -> Run:
    """Run the stages in order and return the story; run.json is written after every stage.

    Raises:
        PlanError: the plan or an option is wrong; what ran until then is in run.json.
        Interrupted: the user stopped it; likewise.
    """
    run = _begun(run, {stage.NAME for stage in stages})
    for stage in stages:
        if stage.NAME == LAST:
            run = _close(ctx, run)
            ctx.ledger.save_run(run_verdict.unfinished(run))
        ctx.say(f"==> {stage.NAME}")
        result = _one(ctx, run, stage)
        run = _with(run, result)
        ctx.ledger.event(
            "stage", stage=stage.NAME, outcome=result.outcome, reused=result.reused, seconds=round(result.seconds, 2)
        )
        ctx.ledger.save_run(run_verdict.unfinished(run))
        ctx.say(f"    {result.outcome}{' (reused)' if result.reused else ''}: {result.sentence}")
    run = _summarised(ctx, run).model_copy(update={"ended": now()})
    ctx.ledger.save_run(run)
    return run


def _one(ctx: Context, run: Run, stage: Stage) -> StageResult:
    started = time.monotonic()
    if (missing := _missing(run, stage)) is not None:
        return _aborted(stage, missing)
    try:
        result = _reused_or_run(ctx, run, stage)
    except (PlanError, Interrupted) as error:
        # A mistake in how we were called must not overwrite what an earlier, right call found.
        if all(each.stage != stage.NAME for each in run.earlier):
            _keep(ctx, run, _failed(ctx, stage, error))
        raise
    except BackproofError as error:
        result = _failed(ctx, stage, error)
    except OSError as error:
        result = _failed(ctx, stage, host_error(error))
    if result.outcome is Outcome.PASS and not result.evidence:
        result = result.model_copy(update={"outcome": Outcome.ERROR, "sentence": f"no evidence for: {result.sentence}"})
    return result if result.reused else result.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


def _reused_or_run(ctx: Context, run: Run, stage: Stage) -> StageResult:
    digest = digest_of({"stage": stage.NAME, "tool": __version__, "inputs": stage.inputs(ctx)})
    before = next((each for each in run.earlier if each.stage == stage.NAME), None)
    if before and stage.REUSABLE and _can_reuse(ctx, before, digest):
        return before.model_copy(update={"reused": True})
    return stage.run(ctx).model_copy(update={"digest": digest})


def _can_reuse(ctx: Context, before: StageResult, digest: str) -> bool:
    return (
        before.digest == digest
        and before.outcome is Outcome.PASS
        and bool(before.evidence)
        and all(ctx.ledger.holds(each) for each in before.evidence)
    )


def _missing(run: Run, stage: Stage) -> StageResult | str | None:
    done = {each.stage: each for each in run.stages}
    for name in stage.NEEDS:
        if name not in done:
            return name
        if done[name].outcome is not Outcome.PASS:
            return done[name]
    return None


def _aborted(stage: Stage, missing: StageResult | str) -> StageResult:
    why = (
        f"it needs {missing}, which has not run here"
        if isinstance(missing, str)
        else f"it needs {missing.stage}, which ended with {missing.outcome}"
    )
    return StageResult(stage=stage.NAME, outcome=Outcome.ABORTED, sentence=f"not run: {why}")


def _failed(ctx: Context, stage: Stage, error: BackproofError) -> StageResult:
    outcome = Outcome.PERSON if isinstance(error, PersonNeeded) else Outcome.ERROR
    evidence: tuple[Evidence, ...] = ()
    try:
        file = ctx.ledger.write_text(f"{stage.NAME}/error.txt", f"{error}\n")
        evidence = (ctx.ledger.evidence(file, claim=error.what, command=f"stage {stage.NAME}"),)
    except OSError:
        ctx.say("    the error could not be written to the run folder")
    findings = (
        Finding(severity="fail" if outcome is Outcome.PERSON else "warning", text=f"{error.what}: {error.why}"),
        Finding(severity="note", text=f"next: {error.next_step}"),
    )
    return StageResult(stage=stage.NAME, outcome=outcome, sentence=error.what, evidence=evidence, findings=findings)


def _begun(run: Run, names: set[str]) -> Run:
    """The stages that are about to run have shown nothing yet: what an earlier command found only waits to be reused."""
    waiting = tuple(each for each in run.stages if each.stage in names)
    kept = tuple(each for each in run.earlier if each.stage not in {one.stage for one in waiting})
    stages = tuple(each for each in run.stages if each.stage not in names)
    return run.model_copy(update={"stages": stages, "earlier": (*kept, *waiting), "ended": ""})


def _with(run: Run, result: StageResult) -> Run:
    """The run with one more result; what rests on another result of this stage counts no longer."""
    before = next((each for each in (*run.stages, *run.earlier) if each.stage == result.stage), None)
    stages = tuple(each for each in run.stages if each.stage != result.stage)
    earlier = tuple(each for each in run.earlier if each.stage != result.stage)
    if before is not None and before.digest != result.digest:
        outdated = tuple(each for each in stages if _rests(each.stage, result.stage))
        stages = tuple(each for each in stages if each not in outdated)
        earlier = (*earlier, *outdated)
    return run.model_copy(update={"stages": (*stages, result), "earlier": earlier})


def _rests(stage: str, on: str) -> bool:
    """Whether another result of `on` makes that of `stage` count no longer. Nothing rests on a report, which only tells."""
    return on != LAST and _place(stage) > _place(on)


def _place(stage: str) -> int:
    """Where a stage stands; those beside the pipeline rest on all of it."""
    names = [each.NAME for each in STAGES]
    return names.index(stage) if stage in names else len(names)


def _keep(ctx: Context, run: Run, result: StageResult) -> None:
    try:
        ctx.ledger.save_run(run_verdict.unfinished(_with(run, result)))
    except OSError:
        ctx.say("    run.json could not be written")


def _close(ctx: Context, run: Run) -> Run:
    """Undo what the stages changed outside the run folder, before anything is reported."""
    try:
        ctx.effects.close()
    except BackproofError as error:
        installed = next((each for each in run.stages if each.stage == "install"), None)
        if installed is None:
            raise
        finding = Finding(severity="fail", text=f"{error.what}: {error.why}; next: {error.next_step}")
        changed = installed.model_copy(update={"outcome": Outcome.PERSON, "findings": (*installed.findings, finding)})
        return _with(run, changed)
    return run


def _summarised(ctx: Context, run: Run) -> Run:
    return run_verdict.summarise(run, ctx.ledger)
