"""A device that is none: nothing to lock, nothing that could go bad, and no inventory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.core.model import Arm
    from backproof.devices.protocol import Session


@dataclass(frozen=True, slots=True)
class NoHardware:
    """The session of a device without hardware."""

    inventory: None = None
    details: None = None

    def environment(self, arm: Arm, name: str) -> Mapping[str, str]:
        del arm, name
        return {}

    def spoiled(self) -> str:
        return ""


def opened(python: Path, folder: Path, env: Mapping[str, str]) -> AbstractContextManager[Session]:
    del python, folder, env
    return nullcontext(NoHardware())
