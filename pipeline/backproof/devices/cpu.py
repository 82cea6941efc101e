"""The plain CPU: checks run in the target's own interpreter as they are, for a fix that needs no device.

What a pass here can carry is level 2 and no more: the arms were told apart by code that ran, away from any device. It is
not called emulated, for nothing was: there is no memory model, no stand-in, no torch unless the check imports it.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from backproof.core.model import Level
from backproof.devices.no_hardware import opened

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.kit.plan import Check, Expected, Plan

__all__ = ["FORKS", "LEVEL", "NAME", "PARALLEL", "describe", "opened", "request", "variants"]

NAME = "cpu"
LEVEL = Level.EMULATED
PARALLEL = 1
# What checks are forked from has imported torch and set Triton's mode: here the target must be as its users have it.
FORKS = False


def describe(python: Path) -> dict[str, str]:
    del python
    return {
        "device": "cpu",
        "machine": platform.machine(),
        "system": platform.system(),
        "what": "the target's own interpreter, nothing emulated",
    }


def variants(plan: Plan, check: Check) -> Mapping[str, Expected]:
    del plan
    return {name: expected for name, expected in check.expect.items() if name == NAME}


def request(kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
    del kit, plan, variant
    return None
