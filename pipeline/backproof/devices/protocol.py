"""The Protocol of a device: all that the rest of Backproof knows of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from backproof.core.level import Level
    from backproof.core.model import Arm, Record
    from backproof.kit.plan import Plan
    from backproof.records.proof import DeviceInventory


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceWords:
    """The words of a device in comments, pages and messages.

    Args:
        level: the name of the device's level by language, `en` and `zh`, for example "checked on a CPU".
        where: completes "red without the backport and green with it, …".
        expected_in: the tables of plan.toml that say what the arms must show there.
    """

    level: Mapping[str, str]
    where: str
    expected_in: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DeviceTraits:
    """How checks run on a device, and what they need there.

    Args:
        session: the module of `target/backproof_target/sessions` that prepares the target's interpreter.
        parallel: the number of check processes that may run at once.
        forks: True where checks may be forked from a process that has imported torch; no device's runtime survives that.
            The session prepares no process that is forked.
        operator_models: True where a check runs once under each operator model of the kit.
        passes: variables of the caller that a process there gets, beyond those of every target (`PASSED`).
        packages: exactly pinned, what the target of a new kit needs for checks to run here.
        hosted_runner: labels of GitHub's own runner that has the device; none where only self-hosted runners have it.
    """

    session: str = "plain"
    parallel: int = 1
    forks: bool = False
    operator_models: bool = False
    passes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    hosted_runner: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSetup:
    """What one process on a device gets of its own: environment variables, and the folder of its device logs."""

    env: Mapping[str, str]
    logs: Path | None = None


class Session(Protocol):
    """The time that a run has the device."""

    @property
    def inventory(self) -> DeviceInventory | None:
        """The device's driver, runtime and host as evidence; None where there is no hardware."""
        ...

    @property
    def details(self) -> Record | None:
        """All that was read about it, for the run folder."""
        ...

    @property
    def command(self) -> str:
        """The command that the inventory was read with."""
        ...

    def prepare_process(self, arm: Arm, name: str) -> ProcessSetup:
        """Return what a process of that arm gets of its own; a process that runs again gets new log folders."""
        ...

    def spoiled(self) -> str:
        """Return why results since the start say nothing (a card went bad); empty when the device is as it was."""
        ...


class Device(Protocol):
    """A module of `backproof.devices`.

    Attributes:
        NAME: as `--device` and plans have it.
        LEVEL: what a pass of the checks here reaches. From level 3 it takes an inventory, too, whose host and boot are those
            of the results.
        WORDS: what it is called.
        LIMITS: what checks cannot show here, one sentence each; every report has them.
        TRAITS: how checks run here.
    """

    NAME: str
    LEVEL: Level
    WORDS: DeviceWords
    LIMITS: tuple[str, ...]
    TRAITS: DeviceTraits

    def describe(self, python: Path) -> dict[str, str]:
        """Return facts of the device for the report.

        Raises:
            DeviceError: it is not there or not usable.
        """
        ...

    def models(self, plan: Plan) -> Collection[str]:
        """Return the names under which a check of this plan can say what the arms must show here."""
        ...

    def request(self, kit: Path, plan: Plan, model: str) -> dict[str, Any] | None:
        """Return what the target's side needs to know of an operator model; None where there are no models."""
        ...

    def open_session(self, python: Path, folder: Path, env: Mapping[str, str]) -> AbstractContextManager[Session]:
        """Have the device for the time of the block; `folder` gets logs, `env` is the environment of the service.

        Raises:
            DeviceError: it is not there, not well, or somebody else has it.
        """
        ...
