"""A device of its own: the target's interpreter on something that turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.level import Level
from backproof.devices import no_hardware, no_models
from backproof.devices.protocol import DeviceTraits, DeviceWords

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan

NAME = "turntable"
LEVEL = Level.EMULATED
WORDS = DeviceWords(
    level={"en": "checked on a turntable", "zh": "已在转盘上检查"},
    where="on a turntable, which turns",
    expected_in="[check.expect.turntable]",
)
LIMITS: tuple[str, ...] = ("A turntable shows nothing of what stands still.",)
TRAITS = DeviceTraits()

open_session = no_hardware.open_session
request = no_models.request


def describe(python: Path) -> dict[str, str]:
    del python
    return {"device": NAME}


def models(plan: Plan) -> tuple[str, ...]:
    del plan
    return (NAME,)
