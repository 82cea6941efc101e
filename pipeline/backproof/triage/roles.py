"""Give every record its final role, seen from the first fault: the same line is a detail here and a secondary error there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from backproof.triage.choose_fault import CONSEQUENCE
from backproof.triage.timestamps import SECOND

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.triage.choose_fault import Choice
    from backproof.triage.events import Event, World
    from backproof.triage.rules import RuleBook

FinalRole = Literal["first-fault", "detail", "pointer", "secondary", "noise", "unknown"]
BEST_FIRST: Final[tuple[FinalRole, ...]] = ("first-fault", "detail", "pointer", "secondary", "noise", "unknown")
_BEFORE: Final = 5 * SECOND
_AFTER: Final = 120 * SECOND
"""How long the dump of one fault takes: a device writes its registers first and names the kernel last."""
_AT_ONCE: Final = SECOND
_LONG_BEFORE: Final = 10 * SECOND
_THREAD: Final = re.compile(r"^[A-Z]+ \[[^\]]*\]\s?\[?(?P<thread>\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifiedEvent:
    """A record with its final role."""

    event: Event
    role: FinalRole


def classify_events(world: World, choice: Choice, book: RuleBook) -> list[ClassifiedEvent]:
    """Return the final roles, in the order of the files."""
    records: list[ClassifiedEvent] = []
    blocks: dict[tuple[int, int], FinalRole] = {}
    before: ClassifiedEvent | None = None
    for event in sorted(world.events, key=lambda event: event.place):
        block = event.entry.source, event.entry.block
        if event.role == "continued":
            role = blocks.get(block) or _classify_continued(event, before)
            role = "detail" if role == "first-fault" else role
        else:
            role = _classify_event(event, choice, book)
        if event.entry.block >= 0:
            blocks[block] = role
        before = ClassifiedEvent(event=event, role=role)
        records.append(before)
    leading = {(record.event.entry.source, record.event.entry.block) for record in records if record.event.leads}
    return [_follow_exception(record, blocks, leading) for record in records]


def _follow_exception(
    record: ClassifiedEvent, blocks: Mapping[tuple[int, int], FinalRole], leading: set[tuple[int, int]]
) -> ClassifiedEvent:
    """Give the start of a traceback, and its frames, the role of the exception that ended it."""
    block = record.event.entry.source, record.event.entry.block
    if record.event.role != "continued" or block not in leading:
        return record
    role = blocks[block]
    return ClassifiedEvent(event=record.event, role="detail" if role == "first-fault" else role)


def _classify_continued(event: Event, before: ClassifiedEvent | None) -> FinalRole:
    """Return the role of the record that it continues."""
    if before is None or before.event.entry.source != event.entry.source:
        return "unknown"
    return before.role


def _classify_event(event: Event, choice: Choice, book: RuleBook) -> FinalRole:
    fault = choice.fault
    if event is fault:
        return "first-fault"
    if event in choice.survived and not _describes_fault(event, fault, book):
        is_later = choice.survived[event] == CONSEQUENCE or (fault is not None and _is_after(event, fault))
        return "secondary" if is_later else "noise"
    if event.role in {"pointer", "secondary"}:
        return "pointer" if event.role == "pointer" else "secondary"
    if event.role == "noise":
        with_fault = event.rule is not None and event.rule.with_fault and fault is not None and _is_beside(event, fault)
        return "detail" if with_fault else "noise"
    return _classify_unknown(event, fault) if event.role == "unknown" else _classify_report(event, fault, book)


def _describes_fault(event: Event, fault: Event | None, book: RuleBook) -> bool:
    """Tell a detail of the fault which was set aside only because a line of an exception text has no clock."""
    beside = event.role == "detail" and event.time is None and fault is not None and _is_beside(event, fault)
    return beside and fault is not None and _shares_family(event, fault, book)


def _is_after(event: Event, fault: Event) -> bool:
    return fault.time is not None and event.time is not None and event.time > fault.time


def _classify_report(event: Event, fault: Event | None, book: RuleBook) -> FinalRole:
    """Classify a fault that was not chosen, or a detail: part of the first fault, or a later error."""
    if fault is None:
        return "unknown"
    return "detail" if _shares_family(event, fault, book) and _is_beside(event, fault) else "secondary"


def _shares_family(event: Event, fault: Event, book: RuleBook) -> bool:
    """Tell the same family of faults; a detail without a kind fits any."""
    own_kind, fault_kind = book.get_kind(event.kind), book.get_kind(fault.kind)
    return own_kind is None or fault_kind is None or own_kind.family == fault_kind.family


def _is_beside(event: Event, fault: Event) -> bool:
    """Tell a record that belongs to the dump of the first fault: same writer, and not a copy of it in a traceback."""
    own, other = event.entry, fault.entry
    form, same_file = own.head.form, own.source == other.source
    if form == other.head.form == "text":
        return same_file and own.block == other.block and (own.block >= 0 or event.process == fault.process)
    if form == "text":
        return same_file and not own.head.prefixed and _is_within(event, fault, _AT_ONCE, _AT_ONCE)
    if "kernel" in {form, other.head.form}:
        return form == other.head.form and same_file and _is_within(event, fault, _BEFORE, _AFTER)
    return event.process == fault.process and _is_within(event, fault, _BEFORE, _AFTER)


def _is_within(event: Event, fault: Event, before: int, after: int) -> bool:
    if event.time is None or fault.time is None:
        return event.entry.source == fault.entry.source
    return -before <= event.time - fault.time <= after


def _classify_unknown(event: Event, fault: Event | None) -> FinalRole:
    """Classify a record that no rule knows by its thread and its time: the fault's own thread, later, or long before."""
    if fault is None or fault.time is None or event.time is None:
        return "unknown"
    late = event.time - fault.time
    if (
        0 <= late <= _AT_ONCE
        and event.process == fault.process
        and _find_thread(event) == _find_thread(fault) is not None
    ):
        return "detail"
    if late >= 0:
        return "secondary"
    return "noise" if late < -_LONG_BEFORE and event.process == fault.process else "unknown"


def _find_thread(event: Event) -> str | None:
    hit = _THREAD.match(event.subject)
    return hit["thread"] if hit else None


def refine_kind(fault: Event, records: list[ClassifiedEvent], book: RuleBook) -> str:
    """Return the kind of the first fault, made precise by its details."""
    own_kind = book.get_kind(fault.kind)
    if fault.kind is None or own_kind is None:
        return "unknown"
    if not own_kind.generic:
        return fault.kind
    for record in records:
        kind = book.get_kind(record.event.kind)
        if record.role == "detail" and kind is not None and not kind.generic and kind.family == own_kind.family:
            return record.event.kind or fault.kind
    return fault.kind
