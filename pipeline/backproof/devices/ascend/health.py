"""Is a result the card's fault? Health is read before and after; a card that went bad in between spoils the result."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from backproof.core.errors import BusyError, DeviceError
from backproof.devices.ascend import npu_smi

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from backproof.devices.ascend.table import Chip, Table

_RANKS: Final = {"OK": 0, "Warning": 1}
"""The states of a chip that works. Alarm, Critical, UNKNOWN and a missing state are not in it."""
_WORST: Final = len(_RANKS)
ACCEPT: Final = "BACKPROOF_ACCEPT_ALARM"
"""Set to 1 by a person whose service runs although every chip shows Alarm (vllm-ascend#9824)."""


def select_chips(chips: Iterable[Chip], visible: str | None) -> tuple[Chip, ...]:
    """Return the chips that ASCEND_RT_VISIBLE_DEVICES names, in the order of their numbers; all where it is not set."""
    ordered = sorted(chips, key=lambda chip: chip.device)
    wanted = {int(part) for part in (visible or "").replace(" ", "").split(",") if part.isdigit()}
    return tuple(chip for chip in ordered if chip.device in wanted) or tuple(ordered)


def _rank(chip: Chip) -> int:
    return _RANKS.get(chip.health or "", _WORST)


def find_unwell(chips: Iterable[Chip]) -> tuple[str, ...]:
    """Return the chips that nothing should run on, those of unknown health among them. A warning is no reason."""
    return tuple(_describe_health(chip) for chip in chips if _rank(chip) == _WORST)


def _describe_health(chip: Chip) -> str:
    return f"{chip.label}: health is {chip.health or 'not told'}"


def find_holders(table: Table, chips: Iterable[Chip]) -> tuple[str, ...]:
    """Return the processes of others on these chips."""
    ours = {(chip.npu, chip.chip) for chip in chips}
    return tuple(
        f"NPU {holder.npu} chip {holder.chip}: process {holder.pid}{f' ({holder.name})' if holder.name else ''}"
        for holder in table.holders
        if (holder.npu, holder.chip) in ours
    )


def require_usable(table: Table, chips: Collection[Chip]) -> None:
    """Start only on chips that are well and free.

    Raises:
        DeviceError: naming each chip that is not well.
        BusyError: naming each chip that is not free.
    """
    if (unwell := find_unwell(chips)) and not _is_alarm_accepted(chips):
        more = (
            f"; if the service runs with this alarm on every chip, say so with {ACCEPT}=1" if _all_alarm(chips) else ""
        )
        raise DeviceError(
            f"{len(unwell)} of {len(chips)} chips are not well",
            why="; ".join(unwell[:8]),
            next_step="look at `npu-smi info -t health`, reset the card, or leave it out with ASCEND_RT_VISIBLE_DEVICES"
            + more,
        )
    if holders := find_holders(table, chips):
        raise BusyError(
            "the chips are in use",
            why="; ".join(holders[:8]),
            next_step="wait for those processes (--wait SECONDS), or choose other chips with ASCEND_RT_VISIBLE_DEVICES",
        )


def _all_alarm(chips: Iterable[Chip]) -> bool:
    return {chip.health for chip in chips} == {"Alarm"}


def _is_alarm_accepted(chips: Iterable[Chip]) -> bool:
    """Tell an alarm that every chip shows and that a person has said to be none: the inventory of the run still has it."""
    return os.environ.get(ACCEPT) == "1" and _all_alarm(chips)


def compare_health(before: Collection[Chip], after: Table) -> str:
    """Return what happened to the chips in between, in one sentence; empty when none is worse than before."""
    now = {(chip.npu, chip.chip): chip for chip in after.chips}
    pairs = [(chip, now.get((chip.npu, chip.chip))) for chip in before]
    worse = [
        f"{old.label} is gone" if new is None else _describe_health(new) for old, new in pairs if _is_worse(old, new)
    ]
    return f"a card went bad during the run: {'; '.join(worse[:8])}" if worse else ""


def _is_worse(old: Chip, new: Chip | None) -> bool:
    return new is None or _rank(new) > _rank(old) or (_rank(new) == _WORST and new.health != old.health)


def check_again(before: Collection[Chip]) -> str:
    """Compare with npu-smi as it answers now; a host that no longer answers is a host that went bad."""
    try:
        table, _ = npu_smi.read_table()
    except DeviceError as error:
        return f"the host went bad during the run: {error.what}: {error.why}"
    return compare_health(before, table)
