"""The embedded device: the target's own files on CPU torch, with a memory model (see docs/emulator.md)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from backproof.core.errors import PlanError
from backproof.core.model import Level
from backproof.devices.no_hardware import opened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.kit.plan import Check, Expected, Plan

__all__ = ["FORKS", "LEVEL", "NAME", "PARALLEL", "describe", "opened", "request", "variants"]

NAME = "emulator"
LEVEL = Level.EMULATED
PARALLEL = min(4, os.cpu_count() or 1)
FORKS = True


def describe(python: Path) -> dict[str, str]:
    del python
    return {"device": "emulator", "what": "the target's own files on a CPU, kernels in Triton's interpreter"}


def variants(plan: Plan, check: Check) -> Mapping[str, Expected]:
    known = {each.id for each in plan.emulator.model} if plan.emulator else set()
    return {name: expected for name, expected in check.expect.items() if name in known}


def request(kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
    model = next((each for each in plan.emulator.model if each.id == variant), None) if plan.emulator else None
    if plan.emulator is None or model is None:
        raise PlanError(
            f"the plan has no operator model {variant!r}",
            why="the emulator needs [emulator] with a model of that id",
            next_step="add it to plan.toml",
        )
    return {"operators": str((kit / plan.emulator.operators).resolve()), "model": model.model, "options": model.options}
