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
    """The chips, while a stage has them."""

    details: Hardware
    chips: tuple[Chip, ...]
    folder: Path
    command: str = "npu-smi info"

    @property
    def inventory(self) -> DeviceInventory:
        return inventory.build_inventory(self.details)

    def prepare_process(self, arm: Arm, name: str) -> ProcessSetup:
        logs = self._make_log_folder(arm, name)
        return ProcessSetup(env=log_environment(logs), logs=logs)

    def _make_log_folder(self, arm: Arm, name: str) -> Path:
        """Make a new folder for each process: the logs of an earlier one must not be taken for this one's."""
        base = self.folder / arm.value
        number = next(n for n in range(1, 10_000) if not (base / f"{name}.logs.{n}").exists())
        folder = base / f"{name}.logs.{number}"
        folder.mkdir(parents=True)
        return folder

    def spoiled(self) -> str:
        """Return why the results show nothing: a card went bad; empty when all are well."""
        return health.check_again(self.chips)


def log_environment(folder: Path) -> dict[str, str]:
    """Return variables that put the device logs of one process into a folder, errors and above as a service has them.

    ASCEND_HOST_LOG_FILE_NUM: by default the log keeps ten files per process and drops the oldest, which has the first
    fault (CANN environment variables, "Log"). A log on stdout would not be in files.
    """
    return {
        "ASCEND_PROCESS_LOG_PATH": str(folder),
        "ASCEND_HOST_LOG_FILE_NUM": "1000",
        "ASCEND_SLOG_PRINT_TO_STDOUT": "0",
        "ASCEND_LOG_PRINT_TO_STDOUT": "0",
    }


@contextmanager
def open_session(python: Path, folder: Path, env: Mapping[str, str]) -> Iterator[AscendSession]:
    """Hold the chips that the service would see.

    Raises:
        DeviceError: they are not there, not well, in use, or held by another run.
    """
    hardware = inventory.read_hardware(python, env)
    chips = health.select_chips(hardware.table.chips, env.get(VISIBLE, os.environ.get(VISIBLE)))
    with lock.hold_chips(chip.device for chip in chips):
        health.require_usable(hardware.table, chips)
        yield AscendSession(details=hardware, chips=chips, folder=folder)
