"""The plain CPU: checks run in the target's own interpreter as they are, for a fix that needs no device.

What a pass here can carry is level 2 and no more: the arms were told apart by code that ran, away from any device. It is
not called emulated, for nothing was: there is no memory model, no stand-in, no torch unless the check imports it.
"""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from backproof.core.level import Level
from backproof.devices import no_hardware, no_models
from backproof.devices.protocol import DeviceTraits, DeviceWords

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan

NAME = "cpu"
LEVEL = Level.EMULATED
WORDS = DeviceWords(
    level={"en": "checked on a CPU", "zh": "已在 CPU 上检查"},
    where="on a plain CPU, where nothing is emulated",
    expected_in="[check.expect.cpu]",
)
LIMITS: tuple[str, ...] = (
    (
        "Checks ran on a plain CPU, in the target's own interpreter: without a memory model, an access out of bounds or a read "
        "of memory that was never written is seen only where it changes what a check compares."
    ),
)
# No forks: what checks are forked from has imported torch and set Triton's mode, and here the target must be as its users
# have it. No hosted runner: it needs an interpreter with the release under test, which a runner of GitHub's has not.
TRAITS = DeviceTraits()


open_session = no_hardware.open_session
request = no_models.request


def describe(python: Path) -> dict[str, str]:
    del python
    return {
        "device": NAME,
        "machine": platform.machine(),
        "system": platform.system(),
        "what": "the target's own interpreter, nothing emulated",
    }


def models(plan: Plan) -> tuple[str, ...]:
    del plan
    return (NAME,)
