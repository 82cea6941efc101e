"""Is a result the card's fault? Health is read before and after; a card that went bad in between spoils the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pipeline.devices.ascend import npu_smi
from pipeline.errors import DeviceError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from pipeline.devices.ascend.table import Chip, Table

GOOD: Final = frozenset({"OK"})


def selected(chips: Iterable[Chip], visible: str | None) -> tuple[Chip, ...]:
    """The chips that ASCEND_RT_VISIBLE_DEVICES names, in the order of their numbers; all where it does not say."""
    ordered = sorted(chips, key=lambda each: each.device)
    wanted = {int(part) for part in (visible or "").replace(" ", "").split(",") if part.isdigit()}
    return tuple(each for each in ordered if each.device in wanted) or tuple(ordered)


def unwell(chips: Iterable[Chip]) -> tuple[str, ...]:
    """The chips that are not OK; one whose health is not told is not OK either."""
    return tuple(
        f"{each.label}: health is {each.health or 'not told'}" for each in chips if (each.health or "") not in GOOD
    )


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
    """What happened to the chips in between, in one sentence; empty when they are as well as before."""
    now = {(each.npu, each.chip): each for each in after.chips}
    lost = [each.label for each in before if (each.npu, each.chip) not in now]
    bad = unwell(now[each.npu, each.chip] for each in before if (each.npu, each.chip) in now)
    found = [*(f"{label} is gone" for label in lost), *bad]
    return f"a card went bad during the run: {'; '.join(found[:8])}" if found else ""


def after(before: Collection[Chip]) -> str:
    """As `went_bad`, from npu-smi as it answers now; a host that no longer answers is a host that went bad."""
    try:
        table, _ = npu_smi.info()
    except DeviceError as error:
        return f"the host went bad during the run: {error.what}: {error.why}"
    return went_bad(before, table)
