"""The levels of a proof. Not in `model.py`: the help of a command names the devices, and must not wait for pydantic."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """The strength of the proof. Computed from evidence, never written."""

    PICKED = 0
    LOADED = 1
    EMULATED = 2
    DEVICE = 3
    SERVED = 4
