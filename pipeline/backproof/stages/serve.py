"""Serves the model of the plan under load, arm by arm. Not part of every run: an hour of a device host is dear.

`backproof serve-check` runs it; it counts for level 4 when the device's inventory says that there was a device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Finding, Record, StageRole
from backproof.core.time_budget import Budget
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord, StageResult
from backproof.records.serving import ServeRecord
from backproof.serving import check
from backproof.serving.run_testbed import host_facts, make_testbed
from backproof.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.kit.serving import Serve
    from backproof.rundir.context import Context


NAME = "serve"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord, InstallRecord)
RECORD = ServeRecord
ROLE = StageRole.PROOF
REUSABLE = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What the command line can ask for; `changes` are laid over each [[serve]] of the plan."""

    only: str | None = None
    which: tuple[Arm, ...] = (Arm.BASE, Arm.FIXED)
    changes: Mapping[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    model: str = ""


def inputs(ctx: Context) -> Mapping[str, Any]:
    options = ctx.option(Options)
    picked = ctx.need(PickRecord)
    fixed = ctx.need(FixupRecord)
    installed = ctx.need(InstallRecord)
    return {
        "trees": [picked.base_tree, picked.head_tree, fixed.head_tree],
        "target": installed.model_dump(mode="json", exclude={"held"}),
        "python": ctx.settings.python,
        "facts": host_facts(ctx),
        "serve": [each.model_dump(mode="json") for each in _chosen(ctx)],
        "baseline": ctx.plan.baseline.model_dump(mode="json"),
        "arms": options.which,
        "model": options.model,
    }


def run(ctx: Context) -> StageResult:
    options = ctx.option(Options)
    device = devices.get(ctx.settings.device)
    env = {**ctx.plan.baseline.environment, **ctx.plan.verify.service.env}
    with device.open_session(Path(ctx.settings.python), ctx.ledger.stage_folder(NAME), env) as session:
        bed = make_testbed(ctx, NAME, session, budget=options.budget.start(), env=env, model=options.model)
        found = [
            check.check_serving(bed, each, arguments(ctx, each), options.which, seed=options.seed)
            for each in _chosen(ctx)
        ]
    return _result(ctx, _merged(found))


def _chosen(ctx: Context) -> tuple[Serve, ...]:
    options = ctx.option(Options)
    return tuple(serve.model_copy(update=dict(options.changes)) for serve in chosen(ctx, options.only))


def chosen(ctx: Context, only: str | None) -> tuple[Serve, ...]:
    """The [[serve]] tables that are meant.

    Raises:
        PlanError: there is none.
    """
    found = tuple(each for each in ctx.plan.serve if only in {None, each.id})
    if not found:
        raise PlanError(
            f"the plan has no [[serve]]{f' {only!r}' if only else ''}",
            why=f"there are: {', '.join(each.id for each in ctx.plan.serve) or 'none'}",
            next_step="add [[serve]] to plan.toml (docs/hardware.md), or name another one",
        )
    return found


def arguments(ctx: Context, serve: Serve) -> tuple[str, ...]:
    return ctx.plan.baseline.arguments if serve.arguments is None else serve.arguments


def _merged(found: Sequence[ServeRecord]) -> ServeRecord:
    return found[0].model_copy(
        update={
            name: tuple(each for record in found for each in getattr(record, name))
            for name in ("rounds", "cases", "not_run", "evidence")
        }
    )


def _result(ctx: Context, record: ServeRecord) -> StageResult:
    outcome, sentence = judge.outcome(record.cases)
    whole = ctx.keep(
        record,
        claim="every round under load: arm, steps, outputs, first fault",
        command=f"backproof serve-check --run {ctx.ledger.folder}",
    )
    findings = tuple(Finding(severity="note", text=f"not run: {each}") for each in record.not_run)
    return StageResult(
        stage=NAME,
        outcome=outcome,
        sentence=sentence,
        evidence=(whole, *record.evidence),
        findings=findings,
    )
