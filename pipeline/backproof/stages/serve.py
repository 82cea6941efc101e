"""Serves the model of the plan under load, arm by arm. Not part of every run: an hour of a device host is dear.

`backproof serve-check` runs it; it counts for level 4 when the device's inventory says that there was a device.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from backproof import devices
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Finding
from backproof.core.time_budget import Budget
from backproof.devices.ascend import host_identity
from backproof.install import arms
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord, StageResult
from backproof.serving import check
from backproof.serving.testbed import Testbed
from backproof.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.devices.protocol import Session
    from backproof.kit.serving import Serve
    from backproof.records.serving import ServeRecord
    from backproof.rundir.context import Context


@dataclass(frozen=True, kw_only=True, slots=True)
class ServeStage:
    """The stage with what the command line asked for."""

    only: str | None = None
    which: tuple[Arm, ...] = (Arm.BASE, Arm.FIXED)
    changes: Mapping[str, Any]
    budget: Budget = field(default_factory=Budget)
    seed: int = 0
    model: str = ""
    NAME: ClassVar[str] = check.STAGE
    NEEDS: ClassVar[tuple[str, ...]] = ("pick", "fixup", "install")
    REUSABLE: ClassVar[bool] = True

    def inputs(self, ctx: Context) -> Mapping[str, Any]:
        picked = ctx.ledger.need("pick/pick.json", PickRecord, made_by="pick")
        fixed = ctx.ledger.need("fixup/fixup.json", FixupRecord, made_by="fixup")
        installed = ctx.ledger.need("install/install.json", InstallRecord, made_by="install")
        return {
            "trees": [picked.base_tree, picked.head_tree, fixed.head_tree],
            "target": installed.model_dump(mode="json", exclude={"held"}),
            "python": ctx.settings.python,
            "facts": facts(ctx),
            "serve": [each.model_dump(mode="json") for each in self._chosen(ctx)],
            "baseline": ctx.plan.baseline.model_dump(mode="json"),
            "arms": self.which,
            "model": self.model,
        }

    def run(self, ctx: Context) -> StageResult:
        device = devices.get(ctx.settings.device)
        env = {**ctx.plan.baseline.environment, **ctx.plan.verify.service.env}
        with device.opened(Path(ctx.settings.python), ctx.ledger.stage_folder(self.NAME), env) as session:
            bed = testbed(ctx, session, self.budget.start(), env, self.model)
            found = [
                check.check_serving(bed, each, arguments(ctx, each), self.which, seed=self.seed)
                for each in self._chosen(ctx)
            ]
        return _result(ctx, _merged(found))

    def _chosen(self, ctx: Context) -> tuple[Serve, ...]:
        return tuple(each.model_copy(update=dict(self.changes)) for each in chosen(ctx, self.only))


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


def facts(ctx: Context) -> dict[str, str]:
    """The device's facts, and host and boot for every device: rounds of another place are not compared."""
    here = host_identity.here()
    described = devices.get(ctx.settings.device).describe(Path(ctx.settings.python))
    return {"host": here.host, "boot_id": here.boot_id, **described}


def arguments(ctx: Context, serve: Serve) -> tuple[str, ...]:
    return ctx.plan.baseline.arguments if serve.arguments is None else serve.arguments


def testbed(ctx: Context, session: Session, budget: Budget, env: Mapping[str, str], model: str) -> Testbed:
    return Testbed(
        ledger=ctx.ledger,
        python=Path(ctx.settings.python),
        words={"kit": str(ctx.kit), "model": model},
        env=env,
        facts=facts(ctx),
        session=session,
        install=lambda arm: arms.installed(ctx, arm),
        budget=budget,
        say=ctx.say,
    )


def _merged(found: Sequence[ServeRecord]) -> ServeRecord:
    return found[0].model_copy(
        update={
            name: tuple(each for record in found for each in getattr(record, name))
            for name in ("rounds", "cases", "not_run", "evidence")
        }
    )


def _result(ctx: Context, record: ServeRecord) -> StageResult:
    outcome, sentence = judge.outcome(record.cases)
    file = ctx.ledger.write(f"{check.STAGE}/serve.json", record)
    whole = ctx.ledger.evidence(
        file,
        claim="every round under load: arm, steps, outputs, first fault",
        command=f"backproof serve-check --run {ctx.ledger.folder}",
    )
    findings = tuple(Finding(severity="note", text=f"not run: {each}") for each in record.not_run)
    return StageResult(
        stage=check.STAGE,
        outcome=outcome,
        sentence=sentence,
        evidence=(whole, *record.evidence),
        findings=findings,
    )
