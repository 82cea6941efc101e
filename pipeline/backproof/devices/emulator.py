"""The embedded device: the target's own files on CPU torch, with a memory model (see docs/emulator.md)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from backproof.core.level import Level
from backproof.devices import no_hardware
from backproof.devices.protocol import DeviceTraits, DeviceWords

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan

NAME = "emulator"
TRAITS = DeviceTraits(
    session="emulated",
    parallel=min(4, os.cpu_count() or 1),
    forks=True,
    operator_models=True,
    packages=("torch==2.13.0", "numpy==2.4.6"),
    hosted_runner=("ubuntu-24.04",),
)
LEVEL = Level.EMULATED
WORDS = DeviceWords(
    level={"en": "emulated", "zh": "已仿真"},
    where="under emulation on a CPU",
    expected_in="[emulator] with a model, and [check.expect.<model>]",
)
LIMITS: tuple[str, ...] = (
    "A fault is raised at the launch that makes it; on a device it surfaces later, at a synchronisation.",
    "Streams, events and their order are not modelled: everything runs at once, one thing after another.",
    "Capturing a graph also executes it once; a device only records it.",
    "A graph's memory pool is not shared with other graphs; its uninitialised tensors are poisoned again at each replay.",
    "Host reads in a capture are refused where torch shows them; a plain memory copy to the host cannot be told apart.",
    "Numbers are CPU numbers: the arithmetic of the device's operators and compilers is not modelled.",
    "Kernels run in Triton's interpreter, one program after another: no races, no compiler, no timing.",
    "Bounds are those of the view that was handed over; gaps inside a strided view are left to the check's comparison.",
    "Poison is a bit pattern: after arithmetic it is an ordinary NaN, and one-byte types have no pattern at all.",
)


open_session = no_hardware.open_session


def describe(python: Path) -> dict[str, str]:
    del python
    return {"device": NAME, "what": "the target's own files on a CPU, kernels in Triton's interpreter"}


def models(plan: Plan) -> tuple[str, ...]:
    return tuple(model.id for model in plan.emulator.model) if plan.emulator else ()


def request(kit: Path, plan: Plan, model: str) -> dict[str, Any] | None:
    if plan.emulator is None:
        return None
    named = {operators.id: operators for operators in plan.emulator.model}[model]
    return {"file": str((kit / plan.emulator.operators).resolve()), "model": named.model, "options": named.options}
