"""Where checks run. A new device is a module here and one line in DEVICES; nothing else names one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.core.errors import PlanError
from backproof.core.suggestion import suggest_name
from backproof.devices import ascend, cpu, emulator

if TYPE_CHECKING:
    from backproof.devices.protocol import Device

DEVICES: Final[dict[str, Device]] = {"emulator": emulator, "ascend": ascend, "cpu": cpu}
DEFAULT: Final = emulator.NAME
"""The device of a run that names none."""
SCAFFOLDED: Final = ascend.NAME
"""The device of a new kit whose author names none."""


def get_device(name: str) -> Device:
    """Return the device of that name.

    Raises:
        PlanError: there is none.
    """
    if name in DEVICES:
        return DEVICES[name]
    raise PlanError(
        f"{name}: no such device",
        why=f"there are {', '.join(DEVICES)}{suggest_name(name, DEVICES)}",
        next_step="choose one with --device",
    )
