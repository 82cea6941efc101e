"""Asks npu-smi, with patience but not for ever: on a host with a lost card it can hang."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolAnswer:
    """The output of one call."""

    command: str
    text: str
    stand_in: bool


def ask_tool(*arguments: str, timeout: float = PATIENCE) -> ToolAnswer:
    """Return the output of `npu-smi` with these arguments.

    Raises:
        DeviceError: it is not there, failed or hung.
    """
    done = proc.run_process([PROGRAM, *arguments], timeout=timeout)
    if done.code != 0:
        raise DeviceError("no NPU can be used on this host", why=_explain_failure(done, timeout), next_step=_NEXT)
    # A stand-in may say so on either stream: its output for people is not always that for programs.
    stand_in = bool(table.STAND_IN.search(f"{done.text}\n{done.error_text}"))
    return ToolAnswer(command=done.command, text=done.text, stand_in=stand_in)


def _explain_failure(done: proc.Completed, timeout: float) -> str:
    if done.code == proc.TIMED_OUT:
        return f"`{done.command}` gave no answer in {timeout:.0f} s: the driver hangs or a card is lost"
    if done.code == proc.NOT_FOUND:
        return f"there is no program {PROGRAM} on PATH"
    return f"`{done.command}` ended with code {done.code}: {(done.error_text or done.text).strip()[-300:]}"


def read_table(timeout: float = PATIENCE) -> tuple[Table, ToolAnswer]:
    """Return the table of all chips, with the text it was read from.

    Raises:
        DeviceError: also when the table has no chip.
    """
    answer = ask_tool("info", timeout=timeout)
    chips = table.parse_table(answer.text)
    if not chips.chips:
        raise DeviceError(
            "npu-smi names no chip",
            why=f"its table could not be read: {answer.text.strip()[:300] or 'it printed nothing'}",
            next_step=_NEXT,
        )
    return chips.model_copy(update={"stand_in": chips.stand_in or answer.stand_in}), answer


def find_program() -> Path | None:
    """Return the npu-smi that answers."""
    program = shutil.which(PROGRAM)
    return Path(program).resolve() if program else None
