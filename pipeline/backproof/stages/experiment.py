"""Runs one experiment of the plan: two configurations under load that differ in one variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.model import Record, StageRole, worst_outcome
from backproof.core.time_budget import TimeBudget
from backproof.install import editable
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import StageResult
from backproof.serving.experiments import conduct
from backproof.serving.run_testbed import make_testbed
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.kit.serving import Experiment, Serve
    from backproof.records.experiment import ExperimentRecord
    from backproof.rundir.context import Context

NAME = "experiment"
NEEDS: tuple[type[Record], ...] = ()
RECORD = ExperimentsRecord
ROLE = StageRole.BESIDE
REUSABLE = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ExperimentOptions:
    """One experiment of the plan with its [[serve]], and the time that it may take."""

    experiment: Experiment
    serve: Serve
    budget: TimeBudget = field(default_factory=TimeBudget)
    model: str = ""


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"experiment": ctx.read_options(ExperimentOptions).experiment.model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    options, baseline = ctx.read_options(ExperimentOptions), ctx.plan.baseline
    conduct.prepare_sides(options.experiment, options.serve, baseline.arguments)
    env = {**baseline.environment, **editable.read_service(ctx).env}
    folder = ctx.ledger.stage_folder(f"{NAME}/{options.experiment.id}")
    device = devices.get_device(ctx.settings.device)
    with device.open_session(Path(ctx.settings.python), folder, env) as session:
        testbed = make_testbed(ctx, NAME, session, budget=options.budget.start(), env=env, model=options.model)
        record = conduct.conduct_experiment(testbed, options.experiment, options.serve, baseline.arguments)
    return _keep_result(ctx, record)


def _keep_result(ctx: Context, record: ExperimentRecord) -> StageResult:
    """Keep the record: an earlier experiment of this id gives way; others stay while they have their evidence."""
    command = f"backproof host experiment {record.id} --run {ctx.ledger.folder}"
    claim = f"experiment {record.id}: {record.question}"
    own = ctx.ledger.write_evidence(f"{NAME}/{record.id}/{NAME}.json", record, claim=claim, command=command)
    loaded = run_verdict.read_evidence(ctx.ledger, ctx.run, ctx.registry)
    others = tuple(other for other in loaded.experiments if other.id != record.id and loaded.is_intact(other.evidence))
    every = (*others, record.model_copy(update={"evidence": (own, *record.evidence)}))
    whole = ExperimentsRecord(experiments=every)
    listed = ctx.keep_record(whole, claim="every experiment of this run", command=command)
    return StageResult(
        stage=NAME,
        outcome=worst_outcome(experiment.outcome for experiment in every),
        sentence="; ".join(f"{experiment.id}: {experiment.kind}, {experiment.sentence}" for experiment in every),
        evidence=(listed, *(item for experiment in every for item in experiment.evidence)),
    )
