"""Contexts for tests that call a stage as the runner does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.records.proof import Run
from backproof.rundir.context import Context
from backproof.stages import REGISTRY

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.records.proof import Settings
    from backproof.rundir.ledger import Ledger


def new_run(settings: Settings) -> Run:
    return Run(tool="t", id="i", kit="k", title="t", settings=settings, started="now")


def context_of(ledger: Ledger, kit: Path, settings: Settings, **facts: Any) -> Context:
    """The context of a run: of what the folder holds, or of a new one."""
    run = facts.pop("run", None) or ledger.load_run() or new_run(settings)
    loaded = facts.pop("loaded_plan", None) or load_plan(kit, DEVICES)
    defaults: dict[str, Any] = {"registry": REGISTRY, "devices": DEVICES, "say": lambda _: None}
    return Context(ledger=ledger, kit=kit, settings=settings, run=run, loaded_plan=loaded, **{**defaults, **facts})
