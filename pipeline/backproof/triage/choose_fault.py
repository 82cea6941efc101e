"""Choose the first fault: the earliest thing that can be a cause, not the earliest line and not the loudest.

The earliest ERROR by clock is wrong in four known ways: noise, pointers, an earlier process on the same chip, and
timeouts that are written when they expire (docs/triage.md, "How the first fault is chosen").
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from backproof.triage.timestamps import SECOND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from backproof.triage.events import Event, Process, World
    from backproof.triage.rules import RuleBook

Confidence = Literal["high", "medium", "low", "none"]
_AT_ONCE: Final = SECOND
_SOON: Final = 60 * SECOND
"""A process that logs nothing worse for so long after an error went on."""
_ALIVE: Final = 10 * SECOND
CONSEQUENCE: Final = "a program that stopped because of another error"
"""A reason for which a candidate is not the cause, and yet no noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The first fault, or None. `survived` holds the reason for each candidate that was not the cause."""

    fault: Event | None
    confidence: Confidence
    why: tuple[str, ...]
    survived: dict[Event, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignsOfLife:
    """Signs of life by which an error is shown to have been survived. Times in microseconds, ascending."""

    healthy: tuple[int, ...]
    loads: tuple[int, ...]


def choose_fault(world: World, book: RuleBook, signs: SignsOfLife) -> Choice:
    """Try in turn: first faults, their details, waits that ran out, and last the errors that no rule knows."""
    survived = _find_survived(world, book, signs)
    causes = [event for event in world.events if event.role == "first-fault" and event not in survived]
    causes = _drop_consequences(world, book, _keep_last_session(world, causes, survived), survived)
    if causes:
        return _make_choice(
            min(causes, key=_rank_event), "medium", "the earliest report of a fault that nothing survived", survived
        )
    for role, confidence, why in _LADDER:
        candidates = [event for event in world.events if role(event, world) and event not in survived]
        if candidates:
            return _make_choice(min(candidates, key=_rank_event), confidence, why, survived)
    return Choice(fault=None, confidence="none", why=(), survived=survived)


def _make_choice(event: Event, confidence: Confidence, why: str, survived: dict[Event, str]) -> Choice:
    reasons = [
        why if event.time is not None else f"{why}; it has no clock of its own, so its place in the file decides"
    ]
    if event.due:
        reasons.append(f"counted back {event.due // SECOND} s, from when the wait ran out to when it began")
    return Choice(fault=event, confidence=confidence, why=tuple(reasons), survived=survived)


def _rank_event(event: Event) -> tuple[bool, int, bool, int, int, int]:
    """Return the sort key: records with a clock first, by time, then by weight."""
    weight = -(event.rule.weight if event.rule else 0)
    return (*_get_start(event), event.entry.head.form == "text", weight, *event.place)


def _get_start(event: Event) -> tuple[bool, int]:
    return event.began is None, event.began or 0


def _is_detail(event: Event, _: World) -> bool:
    return event.role == "detail" and event.kind is not None


def _is_wait(event: Event, _: World) -> bool:
    return event.role == "secondary" and event.rule is not None and event.rule.fallback


def _is_unknown_cause(event: Event, world: World) -> bool:
    """Tell an error that no rule knows and that comes before the first secondary error of a failure."""
    secondary = [other for other in world.events if other.role in {"secondary", "pointer"}]
    if event.role != "unknown" or not secondary:
        return False
    first = min(secondary, key=_rank_event)
    return _get_start(event) <= _get_start(first) and (event.time is not None or event.place < first.place)


_LADDER: Final[tuple[tuple[Callable[[Event, World], bool], Confidence, str], ...]] = (
    (_is_detail, "medium", "the report of the fault itself is missing; this is the earliest detail of one"),
    (_is_wait, "low", "nobody reports a fault: this wait ran out first, so look at the peer that it waited for"),
    (_is_unknown_cause, "low", "no rule knows this error; it is the earliest one before the secondary errors"),
)


def _find_survived(world: World, book: RuleBook, signs: SignsOfLife) -> dict[Event, str]:
    """Return the errors after which the process demonstrably went on, with the sign of life for each."""
    soft = [event for event in world.events if event.role in {"first-fault", "detail"} and _is_soft(event, book)]
    hard = [event for event in world.events if event.role == "first-fault" and not _is_soft(event, book)]
    secondary = _group_times(event for event in world.events if event.role == "secondary")
    signs_by_event: dict[Event, str] = {}
    for event in soft:
        reason = _find_sign_of_life(event, hard, secondary.get(event.process, []), world, signs)
        if reason:
            signs_by_event[event] = reason
    return signs_by_event


def _is_soft(event: Event, book: RuleBook) -> bool:
    kind = book.get_kind(event.kind)
    return kind is not None and kind.survivable


def _group_times(events: Iterable[Event]) -> dict[Process, list[int]]:
    times_by_process: dict[Process, list[int]] = {}
    for event in events:
        if event.time is not None:
            times_by_process.setdefault(event.process, []).append(event.time)
    return {process: sorted(times) for process, times in times_by_process.items()}


def _find_sign_of_life(
    event: Event, hard: Sequence[Event], secondary: Sequence[int], world: World, signs: SignsOfLife
) -> str | None:
    at = event.time
    if at is None:
        return "the device itself reports a fault, and this has no clock" if hard else None
    first = bisect_left(secondary, at)
    troubled = first < len(secondary) and secondary[first] <= at + _SOON
    faults = [fault.time for fault in hard if fault.time is not None and fault.time > at + _AT_ONCE]
    if later := [fault for fault in faults if fault > at + _SOON or not troubled]:
        return f"the run went on for {(min(later) - at) // SECOND} s, until the device itself reported a fault"
    return None if troubled else _find_later_activity(event.process, at, world, signs)


def _find_later_activity(process: Process, at: int, world: World, signs: SignsOfLife) -> str | None:
    """Return the evidence that the server or the process lived after `at`."""
    if any(mark > at + _AT_ONCE for mark in signs.healthy):
        return "the server became healthy afterwards"
    if any(load > at + _AT_ONCE for load in signs.loads):
        return "the server produced tokens afterwards"
    life = world.lives.get(process)
    if life is not None and life.last is not None and life.last > at + _ALIVE:
        return f"the process went on for {(life.last - at) // SECOND} s"
    return None


def _drop_consequences(
    world: World, book: RuleBook, causes: Sequence[Event], survived: dict[Event, str]
) -> list[Event]:
    """Set aside the exceptions and signals of programs that come right after another error: a program stops because of it."""
    reports = [event for event in world.events if event.role not in {"noise", "unknown", "continued"}]
    reports = [event for event in reports if _get_family(event, book) != "host"]
    remaining = []
    for event in causes:
        if _is_host_text(event, book) and any(_comes_soon_after(event, other) for other in reports):
            survived[event] = CONSEQUENCE
        else:
            remaining.append(event)
    return remaining


def _is_host_text(event: Event, book: RuleBook) -> bool:
    return event.entry.head.form == "text" and not event.entry.head.alarm and _get_family(event, book) == "host"


def _get_family(event: Event, book: RuleBook) -> str:
    kind = book.get_kind(event.kind)
    return kind.family if kind else ""


def _comes_soon_after(event: Event, other: Event) -> bool:
    below = event.entry.source == other.entry.source and other.place < event.place
    if event.time is None or other.time is None or event.time == other.time:
        return below
    return 0 < event.time - other.time <= _SOON


def _keep_last_session(world: World, causes: list[Event], survived: dict[Event, str]) -> list[Event]:
    """Set aside the faults of processes that had ended before the last run.

    A later run that fails by itself is the one in question, not the one before. A later run that fails at once, on the chip
    where the earlier one faulted, is its victim: the chip stays broken until it is reset (hw-native-sys/simpler#890,
    #2395).
    """
    late = [event for event in causes if _starts_after(world, event, causes)]
    independent = [event for event in late if not _is_victim(world, event, causes)]
    if not independent:
        return causes
    start = min(born for event in independent if (born := _get_creation(world, event)) is not None)
    remaining = []
    for event in causes:
        if _ended_before(world, event, start) and event not in independent:
            survived[event] = "a fault of an earlier process, which had ended before this run began"
        else:
            remaining.append(event)
    return remaining


def _get_creation(world: World, event: Event) -> int | None:
    life = world.lives.get(event.process)
    return life.created if life else None


def _starts_after(world: World, event: Event, causes: Sequence[Event]) -> bool:
    created = _get_creation(world, event)
    return created is not None and any(_ended_before(world, other, created) for other in causes)


def _ended_before(world: World, event: Event, moment: int) -> bool:
    life = world.lives.get(event.process)
    return life is not None and life.last is not None and life.last < moment


def _is_victim(world: World, event: Event, causes: Sequence[Event]) -> bool:
    created = _get_creation(world, event)
    if created is None or event.time is None or event.time - created > _SOON:
        return False
    return any(
        other.device == event.device and event.device is not None and _ended_before(world, other, created)
        for other in causes
    )
