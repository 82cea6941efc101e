"""The one loop over the stages: order, reuse, abort, durations, and what each kind of failure becomes.

run.json is written here and nowhere else.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.core.errors import BackproofError, BusyError, Interrupted, NeedsReview, PlanError, explain_os_error
from backproof.core.model import Finding, Outcome, StageRole
from backproof.records.proof import InstallRecord, Run, StageResult, VerifyRecord
from backproof.rundir.ledger import digest_of, now
from backproof.rundir.subject import digest_subject
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.core.model import Evidence
    from backproof.rundir.context import Context, Stage
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.registry import Registry


_PAUSE = 2.0
"""Seconds between two tries for what another run has."""


def run_stages(ctx: Context, run: Run, stages: Sequence[Stage]) -> Run:
    """Run the stages in order and return the run as it ended; run.json is written after every stage.

    Raises:
        PlanError: the plan or an option is wrong; what ran until then is in run.json.
        Interrupted: the user stopped it; likewise.
    """
    run = _begin_run(run, {stage.NAME for stage in stages})
    for stage in stages:
        if stage.ROLE is StageRole.AFTERWARDS:
            run = _close_effects(ctx, run)
            ctx.ledger.save_run(run_verdict.mark_unfinished(run))
        ctx.say(f"==> {stage.NAME}")
        result = _run_stage(replace(ctx, run=run), stage)
        run = _keep_result(ctx, run, result)
        ctx.ledger.save_run(run_verdict.mark_unfinished(run))
        ctx.say(f"    {result.outcome}{' (reused)' if result.reused else ''}: {result.sentence}")
    run = run_verdict.summarise_run(run, ctx.ledger, ctx.registry).model_copy(update={"ended": now()})
    return ctx.ledger.save_run(run)


def save_begun(ledger: Ledger, run: Run) -> Run:
    """Write a run that is about to begin, or to go on: a command that fails at once leaves that."""
    return ledger.save_run(run)


def add_beside(ctx: Context, stage: Stage) -> Run:
    """Run a stage that is no part of the proof; verdict and level stay as they are, and its errors are the caller's."""
    run = _keep_result(ctx, ctx.run, stage.run(ctx))
    evidence = run_verdict.read_evidence(ctx.ledger, run, ctx.registry).evidence
    return ctx.ledger.save_run(run.model_copy(update={"evidence": evidence}))


def replace_result(run: Run, result: StageResult, registry: Registry) -> Run:
    """Return the run with one more result; what rests on another result of this stage counts no longer."""
    before = _find_result((*run.stages, *run.earlier), result.stage)
    stages = _drop_stages(run.stages, {result.stage})
    earlier = _drop_stages(run.earlier, {result.stage})
    if before is not None and before.digest != result.digest:
        outdated = tuple(other for other in stages if _rests_on(other.stage, result.stage, registry))
        stages = _drop_stages(stages, {other.stage for other in outdated})
        earlier = (*earlier, *outdated)
    return run.model_copy(update={"stages": (*stages, result), "earlier": earlier})


def _find_result(results: Iterable[StageResult], name: str) -> StageResult | None:
    return next((result for result in results if result.stage == name), None)


def _drop_stages(results: Iterable[StageResult], names: set[str]) -> tuple[StageResult, ...]:
    return tuple(result for result in results if result.stage not in names)


def _rests_on(stage: str, other: str, registry: Registry) -> bool:
    """Return whether another result of `other` outdates `stage`: a proof of every run outdates all that come after it."""
    counts = registry.role_of(other) is StageRole.PROOF and not registry.is_on_request(other)
    return counts and registry.position_of(stage) > registry.position_of(other)


def _run_stage(ctx: Context, stage: Stage) -> StageResult:
    started = time.monotonic()
    if missing := _explain_missing(ctx, stage):
        return StageResult(stage=stage.NAME, outcome=Outcome.ABORTED, sentence=missing)
    try:
        result = _reuse_or_run(ctx, stage)
    except (PlanError, Interrupted) as error:
        # A mistake in how Backproof was called must not overwrite what an earlier, right call found.
        if _find_result(ctx.run.earlier, stage.NAME) is None:
            _save_failure(ctx, _record_failure(ctx, stage, error))
        raise
    except (BackproofError, OSError) as error:
        result = _record_failure(ctx, stage, explain_os_error(error) if isinstance(error, OSError) else error)
    if result.outcome is Outcome.PASS and not result.evidence:
        result = result.model_copy(update={"outcome": Outcome.ERROR, "sentence": f"no evidence for: {result.sentence}"})
    return result if result.reused else result.model_copy(update={"seconds": round(time.monotonic() - started, 3)})


def _reuse_or_run(ctx: Context, stage: Stage) -> StageResult:
    facts = {"stage": stage.NAME, "tool": __version__, "subject": digest_subject(ctx.run), "inputs": stage.inputs(ctx)}
    digest = digest_of(facts)
    before = _find_result(ctx.run.earlier, stage.NAME)
    if before and stage.REUSABLE and _can_reuse(ctx, before, digest):
        return before.model_copy(update={"reused": True})
    return _run_when_free(ctx, stage).model_copy(update={"digest": digest})


def _run_when_free(ctx: Context, stage: Stage) -> StageResult:
    """Run the stage; while another run has what it needs, wait for that one as long as the user allows."""
    deadline, shown = 0.0, ""
    while True:
        try:
            return stage.run(ctx)
        except BusyError as error:
            deadline = deadline or time.monotonic() + ctx.wait
            left = deadline - time.monotonic()
            if left <= 0:
                raise
            if shown != (shown := f"{error.what}: {error.why}"):
                ctx.say(f"    waiting for at most {left:.0f} s: {shown}")
        time.sleep(min(_PAUSE, left))


def _can_reuse(ctx: Context, before: StageResult, digest: str) -> bool:
    return (
        before.digest == digest
        and before.outcome is Outcome.PASS
        and bool(before.evidence)
        and all(ctx.ledger.holds(item) for item in before.evidence)
    )


def _explain_missing(ctx: Context, stage: Stage) -> str:
    """Say what the stage needs and has not; '' when it has everything."""
    outcomes = {result.stage: result.outcome for result in ctx.run.stages}
    for kind in stage.NEEDS:
        name = ctx.registry.name_of(kind)
        if name not in outcomes:
            return f"not run: it needs {name}, which has not run here"
        # A changed line that no check reached says nothing against the code that is there: the checks still run.
        goes_on = kind is VerifyRecord and outcomes[name] is Outcome.INCONCLUSIVE
        if outcomes[name] is not Outcome.PASS and not goes_on:
            return f"not run: it needs {name}, which ended with {outcomes[name]}"
    return ""


def _record_failure(ctx: Context, stage: Stage, error: BackproofError) -> StageResult:
    outcome = Outcome.PERSON if isinstance(error, NeedsReview) else Outcome.ERROR
    evidence: tuple[Evidence, ...] = ()
    try:
        path, command = f"{stage.NAME}/error.txt", f"stage {stage.NAME}"
        evidence = (ctx.ledger.write_evidence(path, f"{error}\n", claim=error.what, command=command),)
    except OSError:
        ctx.say("    the error could not be written to the run folder")
    findings = (
        Finding(severity="fail" if outcome is Outcome.PERSON else "warning", text=f"{error.what}: {error.why}"),
        Finding(severity="note", text=f"next: {error.next_step}"),
    )
    return StageResult(stage=stage.NAME, outcome=outcome, sentence=error.what, evidence=evidence, findings=findings)


def _begin_run(run: Run, names: set[str]) -> Run:
    """The stages that are about to run have shown nothing yet: what an earlier command found only waits to be reused."""
    waiting = tuple(result for result in run.stages if result.stage in names)
    kept = _drop_stages(run.earlier, {result.stage for result in waiting})
    return run.model_copy(update={"stages": _drop_stages(run.stages, names), "earlier": (*kept, *waiting), "ended": ""})


def _save_failure(ctx: Context, result: StageResult) -> None:
    try:
        ctx.ledger.save_run(run_verdict.mark_unfinished(replace_result(ctx.run, result, ctx.registry)))
    except OSError:
        ctx.say("    run.json could not be written")


def _close_effects(ctx: Context, run: Run) -> Run:
    """Undo what the stages changed outside the run folder, before anything is reported."""
    try:
        ctx.effects.close()
    except BackproofError as error:
        name = ctx.registry.name_of(InstallRecord)
        if (installed := _find_result(run.stages, name)) is None:
            raise
        finding = Finding(severity="fail", text=f"{error.what}: {error.why}; next: {error.next_step}")
        changed = installed.model_copy(update={"outcome": Outcome.PERSON, "findings": (*installed.findings, finding)})
        return replace_result(run, changed, ctx.registry)
    return run


def _keep_result(ctx: Context, run: Run, result: StageResult) -> Run:
    ctx.ledger.log_event(
        "stage", stage=result.stage, outcome=result.outcome, reused=result.reused, seconds=round(result.seconds, 2)
    )
    return replace_result(run, result, ctx.registry)
