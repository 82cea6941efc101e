"""An Ascend NPU host. Its checks run on the device itself; without one, the outcome is an error, never a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Level
from backproof.devices.ascend import inventory, session

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.devices.protocol import Session
    from backproof.kit.plan import Check, Expected, Plan

NAME = inventory.NAME
LEVEL = Level.DEVICE
PARALLEL = 1
FORKS = False


def describe(python: Path) -> dict[str, str]:
    return inventory.describe_hardware(inventory.read_hardware(python))


def variants(plan: Plan, check: Check) -> Mapping[str, Expected]:
    del plan
    return {name: expected for name, expected in check.expect.items() if name == NAME}


def request(kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
    del kit, plan, variant
    return None


def opened(python: Path, folder: Path, env: Mapping[str, str]) -> AbstractContextManager[Session]:
    return session.open_session(python, folder, env)
