"""Asks npu-smi, with patience but not for ever: on a host with a lost card it can hang."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

from backproof.adapters import proc
from backproof.core.errors import DeviceError
from backproof.devices.ascend import table

if TYPE_CHECKING:
    from backproof.devices.ascend.table import Table

PROGRAM: Final = "npu-smi"
PATIENCE: Final = 60.0
"""Seconds. With 16 chips `npu-smi info` takes about two; one lost card adds its own time-out to each question."""
_NEXT: Final = "run on an NPU host with its driver, or use --device emulator (level 2 at most)"


def _explain_failure(done: proc.Completed, timeout: float) -> str:
    if done.code == proc.TIMED_OUT:
        return f"`{done.command}` gave no answer in {timeout:.0f} s: the driver hangs or a card is lost"
    if done.code == proc.NOT_FOUND:
        return f"there is no program {PROGRAM} on PATH"
    return f"`{done.command}` ended with code {done.code}: {(done.error_text or done.text).strip()[-300:]}"


def read_table(timeout: float = PATIENCE) -> tuple[Table, str]:
    """Return the table of all chips, with the text it was read from.

    Raises:
        DeviceError: npu-smi is not there, failed or hung, or its table has no chip.
    """
    done = proc.run_process([PROGRAM, "info"], timeout=timeout)
    if done.code != 0:
        raise DeviceError("no NPU can be used on this host", why=_explain_failure(done, timeout), next_step=_NEXT)
    chips = table.parse_table(done.text)
    if not chips.chips:
        raise DeviceError(
            "npu-smi names no chip",
            why=f"its table could not be read: {done.text.strip()[:300] or 'it printed nothing'}",
            next_step=_NEXT,
        )
    # A stand-in may say so on either stream: its output for people is not always that for programs.
    stand_in = chips.stand_in or bool(table.STAND_IN.search(done.error_text))
    return chips.model_copy(update={"stand_in": stand_in}), done.text


def find_program() -> Path | None:
    """Return the npu-smi that answers."""
    program = shutil.which(PROGRAM)
    return Path(program).resolve() if program else None
