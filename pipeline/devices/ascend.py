"""An Ascend NPU host. Its checks run on the device itself; without one, the outcome is an error, never a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipeline.adapters import proc
from pipeline.errors import DeviceError
from pipeline.model import Level

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.plan import Check, Expected, Plan

NAME = "ascend"
LEVEL = Level.DEVICE
PARALLEL = 1
FORKS = False


def describe(python: Path) -> dict[str, str]:
    del python
    done = proc.run(["npu-smi", "info"], timeout=60)
    if done.code != 0:
        raise DeviceError(
            "no NPU can be used on this host",
            why=f"`npu-smi info` ended with code {done.code}: {(done.error_text or done.text).strip()[-300:]}",
            next_step="run on an NPU host with its driver, or use --device emulator (level 2 at most)",
        )
    return {"device": "ascend", "npu-smi": done.text.strip()}


def variants(plan: Plan, check: Check) -> Mapping[str, Expected]:
    del plan
    return {name: expected for name, expected in check.expect.items() if name == NAME}


def request(kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
    del kit, plan, variant
    return None
