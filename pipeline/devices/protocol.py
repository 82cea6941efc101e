"""What a device is to the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pipeline.model import Level
    from pipeline.plan import Check, Expected, Plan


class Device(Protocol):
    """A module of `pipeline.devices`."""

    NAME: str
    LEVEL: Level
    """The level that a pass of the checks here can carry."""
    PARALLEL: int
    """How many check processes may run at once."""

    @staticmethod
    def describe(python: Path) -> dict[str, str]:
        """Facts of the device for the report.

        Raises:
            DeviceError: it is not there or not usable.
        """
        ...

    @staticmethod
    def variants(plan: Plan, check: Check) -> Mapping[str, Expected]:
        """The runs of one check here, by name, each with what the arms must show."""
        ...

    @staticmethod
    def request(kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
        """The device's part of the request to the check runner."""
        ...
