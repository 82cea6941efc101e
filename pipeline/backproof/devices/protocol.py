"""What a device is to the stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.core.model import Arm, Level, Record
    from backproof.kit.plan import Check, Expected, Plan
    from backproof.records.proof import DeviceInventory


class Session(Protocol):
    """The time that a run has the device."""

    @property
    def inventory(self) -> DeviceInventory | None:
        """What the device says of itself; None where there is no hardware."""
        ...

    @property
    def details(self) -> Record | None:
        """All that was read about it, for the run folder."""
        ...

    def environment(self, arm: Arm, name: str) -> Mapping[str, str]:
        """What a process on this device gets beside the service's environment, for example its own log folder."""
        ...

    def spoiled(self) -> str:
        """Why results since the start say nothing (a card went bad); empty when the device is as well as it was."""
        ...


class Device(Protocol):
    """A module of `backproof.devices`."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        ...

    @property
    def LEVEL(self) -> Level:  # noqa: N802
        """The level that a pass of the checks here can carry."""
        ...

    @property
    def PARALLEL(self) -> int:  # noqa: N802
        """How many check processes may run at once."""
        ...

    @property
    def FORKS(self) -> bool:  # noqa: N802
        """Whether checks may be forked from a process that has imported torch; a device's runtime would not survive it."""
        ...

    def describe(self, python: Path) -> dict[str, str]:
        """Facts of the device for the report.

        Raises:
            DeviceError: it is not there or not usable.
        """
        ...

    def variants(self, plan: Plan, check: Check) -> Mapping[str, Expected]:
        """The runs of one check here, by name, each with what the arms must show."""
        ...

    def request(self, kit: Path, plan: Plan, variant: str) -> dict[str, Any] | None:
        """The device's part of the request to the check runner."""
        ...

    def opened(self, python: Path, folder: Path, env: Mapping[str, str]) -> AbstractContextManager[Session]:
        """Have the device for the time of the block; `folder` gets logs, `env` is what the service would have.

        Raises:
            DeviceError: it is not there, not well, or somebody else has it.
        """
        ...
