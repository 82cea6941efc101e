"""Is a result the card's fault? Health is read before and after; a card that went bad in between spoils the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.core.errors import DeviceError
from backproof.devices.ascend import npu_smi

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from backproof.devices.ascend.table import Chip, Table

_RANKS: Final = {"OK": 0, "Warning": 1}
"""What npu-smi says of a chip that works. Alarm, Critical, UNKNOWN and no word at all are not in it."""
_WORST: Final = len(_RANKS)


def selected(chips: Iterable[Chip], visible: str | None) -> tuple[Chip, ...]:
    """The chips that ASCEND_RT_VISIBLE_DEVICES names, in the order of their numbers; all where it does not say."""
    ordered = sorted(chips, key=lambda each: each.device)
    wanted = {int(part) for part in (visible or "").replace(" ", "").split(",") if part.isdigit()}
    return tuple(each for each in ordered if each.device in wanted) or tuple(ordered)


def _rank(chip: Chip) -> int:
    return _RANKS.get(chip.health or "", _WORST)


def unwell(chips: Iterable[Chip]) -> tuple[str, ...]:
    """The chips that nothing should run on; one whose health is not told is among them. A warning is only said."""
    return tuple(_said(each) for each in chips if _rank(each) == _WORST)


def _said(chip: Chip) -> str:
    return f"{chip.label}: health is {chip.health or 'not told'}"


def busy(table: Table, chips: Iterable[Chip]) -> tuple[str, ...]:
    """Who else works on these chips."""
    ours = {(each.npu, each.chip) for each in chips}
    return tuple(
        f"NPU {each.npu} chip {each.chip}: process {each.pid}{f' ({each.name})' if each.name else ''}"
        for each in table.holders
        if (each.npu, each.chip) in ours
    )


def require(table: Table, chips: Collection[Chip]) -> None:
    """Start only on chips that are well and free.

    Raises:
        DeviceError: naming each chip that is not.
    """
    if bad := unwell(chips):
        raise DeviceError(
            f"{len(bad)} of {len(chips)} chips are not well",
            why="; ".join(bad[:8]),
            next_step="look at `npu-smi info -t health`, reset the card, or leave it out with ASCEND_RT_VISIBLE_DEVICES",
        )
    if held := busy(table, chips):
        raise DeviceError(
            "the chips are in use",
            why="; ".join(held[:8]),
            next_step="wait for those processes, or choose other chips with ASCEND_RT_VISIBLE_DEVICES",
        )


def went_bad(before: Collection[Chip], after: Table) -> str:
    """What happened to the chips in between, in one sentence; empty when none is worse than before."""
    now = {(each.npu, each.chip): each for each in after.chips}
    pairs = [(each, now.get((each.npu, each.chip))) for each in before]
    found = [f"{old.label} is gone" if new is None else _said(new) for old, new in pairs if _worse(old, new)]
    return f"a card went bad during the run: {'; '.join(found[:8])}" if found else ""


def _worse(old: Chip, new: Chip | None) -> bool:
    return new is None or _rank(new) > _rank(old) or _rank(new) == _WORST


def after(before: Collection[Chip]) -> str:
    """As `went_bad`, from npu-smi as it answers now; a host that no longer answers is a host that went bad."""
    try:
        table, _ = npu_smi.info()
    except DeviceError as error:
        return f"the host went bad during the run: {error.what}: {error.why}"
    return went_bad(before, table)
