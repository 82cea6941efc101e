"""The time that a run has the chips: locked, healthy at its start, looked at again at its end, logs apart per arm."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.devices.ascend import health, inventory, lock
from backproof.devices.protocol import ProcessSetup

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backproof.core.model import Arm
    from backproof.devices.ascend.inventory import Hardware
    from backproof.devices.ascend.table import Chip
    from backproof.records.proof import DeviceInventory

VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"


@dataclass(frozen=True, kw_only=True, slots=True)
class AscendSession:
    """What a stage may ask while it has the chips."""

    hardware: Hardware
    chips: tuple[Chip, ...]
    folder: Path

    @property
    def inventory(self) -> DeviceInventory:
        return inventory.record(self.hardware)

    @property
    def details(self) -> Hardware:
        return self.hardware

    @property
    def command(self) -> str:
        return "npu-smi info"

    def prepare_process(self, arm: Arm, name: str) -> ProcessSetup:
        """Return the variables that send device logs to a new folder: an earlier process's must not be taken for its own."""
        base = self.folder / arm.value
        number = next(n for n in range(1, 10_000) if not (base / f"{name}.logs.{n}").exists())
        logs = base / f"{name}.logs.{number}"
        logs.mkdir(parents=True)
        return ProcessSetup(env=logging_to(logs), logs=logs)

    def spoiled(self) -> str:
        """Return why the results say nothing: a card went bad; empty when all are well."""
        return health.after(self.chips)


def logging_to(folder: Path) -> dict[str, str]:
    """Device logs of one process in a folder of their own, errors and above as a service has them.

    ASCEND_HOST_LOG_FILE_NUM: by default the log keeps ten files per process and drops the oldest, which has the first
    scene (CANN environment variables, "Log"). A log on stdout would not be in files.
    """
    return {
        "ASCEND_PROCESS_LOG_PATH": str(folder),
        "ASCEND_HOST_LOG_FILE_NUM": "1000",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
        "ASCEND_LOG_PRINT_TO_STDOUT": "0",
    }


@contextmanager
def open_session(python: Path, folder: Path, env: Mapping[str, str]) -> Iterator[AscendSession]:
    """Have the chips that the service would see.

    Raises:
        DeviceError: they are not there, not well, in use, or held by another run.
    """
    hardware = inventory.take(python, env)
    chips = health.selected(hardware.table.chips, env.get(VISIBLE, os.environ.get(VISIBLE)))
    with lock.held(each.device for each in chips):
        health.require(hardware.table, chips)
        yield AscendSession(hardware=hardware, chips=chips, folder=folder)
