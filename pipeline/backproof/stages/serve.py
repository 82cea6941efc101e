"""Serves the model of the plan under load, arm by arm. Not part of every run: an hour of a device host is costly.

`backproof host serve` runs it; it counts for level 4 when the device's inventory says that there was a device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Finding, Record, StageRole
from backproof.core.time_budget import TimeBudget
from backproof.install import editable
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord, StageResult
from backproof.records.serving import ServeRecord
from backproof.serving.check import check_serving
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
class ServeOptions:
    """The options of the command line; `changes` are laid over each [[serve]] of the plan."""

    only: str | None = None
    which: tuple[Arm, ...] = (Arm.BASE, Arm.FIXED)
    changes: Mapping[str, Any] = field(default_factory=dict)
    budget: TimeBudget = field(default_factory=TimeBudget)
    seed: int = 0
    model: str = ""


def inputs(ctx: Context) -> Mapping[str, Any]:
    options = ctx.read_options(ServeOptions)
    picked = ctx.require_record(PickRecord)
    fixed = ctx.require_record(FixupRecord)
    installed = ctx.require_record(InstallRecord)
    return {
        "trees": [picked.base_tree, picked.head_tree, fixed.head_tree],
        "target": installed.model_dump(mode="json", exclude={"held"}),
        "python": ctx.settings.python,
        "facts": host_facts(ctx),
        "serve": [serve.model_dump(mode="json") for serve in _choose_tables(ctx)],
        "baseline": ctx.plan.baseline.model_dump(mode="json"),
        "arms": options.which,
        "model": options.model,
    }


def run(ctx: Context) -> StageResult:
    options = ctx.read_options(ServeOptions)
    device = devices.get_device(ctx.settings.device)
    env = {**ctx.plan.baseline.environment, **editable.read_service(ctx).env}
    with device.open_session(Path(ctx.settings.python), ctx.ledger.stage_folder(NAME), env) as session:
        testbed = make_testbed(ctx, NAME, session, budget=options.budget.start(), env=env, model=options.model)
        records = [
            check_serving(testbed, serve, _choose_arguments(ctx, serve), options.which, seed=options.seed)
            for serve in _choose_tables(ctx)
        ]
    return _keep_result(ctx, _merge_records(records))


def _choose_tables(ctx: Context) -> tuple[Serve, ...]:
    """Return the [[serve]] tables that are meant, with the changes of the command line.

    Raises:
        PlanError: there is none.
    """
    options = ctx.read_options(ServeOptions)
    tables = tuple(serve for serve in ctx.plan.serve if options.only in {None, serve.id})
    if not tables:
        raise PlanError(
            f"the plan has no [[serve]]{f' {options.only!r}' if options.only else ''}",
            why=f"there are: {', '.join(serve.id for serve in ctx.plan.serve) or 'none'}",
            next_step="add [[serve]] to plan.toml (docs/hardware.md), or name another one",
        )
    return tuple(serve.model_copy(update=dict(options.changes)) for serve in tables)


def _choose_arguments(ctx: Context, serve: Serve) -> tuple[str, ...]:
    return ctx.plan.baseline.arguments if serve.arguments is None else serve.arguments


def _merge_records(records: Sequence[ServeRecord]) -> ServeRecord:
    return records[0].model_copy(
        update={
            name: tuple(item for record in records for item in getattr(record, name))
            for name in ("rounds", "cases", "not_run", "evidence")
        }
    )


def _keep_result(ctx: Context, record: ServeRecord) -> StageResult:
    outcome, sentence = judge.outcome(record.cases)
    whole = ctx.keep_record(
        record,
        claim="every round under load: arm, steps, outputs, first fault",
        command=f"backproof host serve --run {ctx.ledger.folder}",
    )
    findings = tuple(Finding(severity="note", text=f"not run: {why}") for why in record.not_run)
    return StageResult(
        stage=NAME,
        outcome=outcome,
        sentence=sentence,
        evidence=(whole, *record.evidence),
        findings=findings,
    )
