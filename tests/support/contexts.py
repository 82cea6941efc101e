"""Contexts for tests that call a stage as the runner does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.adapters.git import Source
from backproof.app.execution import find_target
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.records.proof import Run, Subject
from backproof.rundir.context import Context
from backproof.rundir.subject import hash_kit
from backproof.stages import REGISTRY

if TYPE_CHECKING:
    from backproof.kit.plan import Plan
    from backproof.records.proof import Settings
    from backproof.rundir.ledger import Ledger


NOTHING = Subject(kit={}, tip="")


def new_run(settings: Settings, **facts: Any) -> Run:
    """A run of no kit in particular, unless one is named."""
    facts = {"tool": "t", "id": "i", "kit": "k", "title": "t", "started": "now", "subject": NOTHING, **facts}
    return Run(settings=settings, **facts)


def begin_subject(kit: Path, plan: Plan, settings: Settings) -> Subject:
    """What a run is of that begins now; a repository that is not there has no tip."""
    there = Path(settings.repo).exists() and bool(settings.repo)
    tip = Source.open(settings.repo).resolve_branch(settings.branch) if there else ""
    return Subject(kit=hash_kit(kit), tip=tip, target=find_target(plan, settings))


def begin_again(ctx: Context) -> Context:
    """The run as it would begin now: the test has changed the target, and means it."""
    subject = begin_subject(ctx.kit, ctx.plan, ctx.settings)
    return replace(ctx, run=ctx.run.model_copy(update={"subject": subject}))


def context_of(ledger: Ledger, kit: Path, settings: Settings, **facts: Any) -> Context:
    """The context of a run: of what the folder holds, or of a new one."""
    loaded = facts.pop("loaded_plan", None) or load_plan(kit, DEVICES)
    run = facts.pop("run", None) or ledger.load_run() or new_run(settings, subject=begin_subject(kit, loaded, settings))
    defaults: dict[str, Any] = {"registry": REGISTRY, "devices": DEVICES, "say": lambda _: None}
    return Context(ledger=ledger, kit=kit, settings=settings, run=run, loaded_plan=loaded, **{**defaults, **facts})
