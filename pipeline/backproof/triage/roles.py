"""Gives every record its final role, seen from the first scene: the same line is a detail here and an echo there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from backproof.triage.timestamps import SECOND

if TYPE_CHECKING:
    from backproof.triage.choose_fault import Choice
    from backproof.triage.events import Event, World
    from backproof.triage.rules import RuleBook

FinalRole = Literal["first-scene", "scene", "pointer", "echo", "noise", "unknown"]
BEST_FIRST: Final[tuple[FinalRole, ...]] = ("first-scene", "scene", "pointer", "echo", "noise", "unknown")
_BEFORE: Final = 5 * SECOND
_AFTER: Final = 120 * SECOND
"""How long the dump of one scene takes: a device writes its registers first and names the kernel last."""
_AT_ONCE: Final = SECOND
_LONG_BEFORE: Final = 10 * SECOND
_THREAD: Final = re.compile(r"^[A-Z]+ \[[^\]]*\]\s?\[?(?P<thread>\d+)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A record with its final role."""

    event: Event
    role: FinalRole


def settle(world: World, choice: Choice, book: RuleBook) -> list[Settled]:
    """Final roles, in the order of the files."""
    found: list[Settled] = []
    before: Settled | None = None
    for event in sorted(world.events, key=lambda event: event.place):
        role = _continued(event, before) if event.role == "continued" else _role(event, choice, book)
        before = Settled(event=event, role=role)
        found.append(before)
    return found


def _continued(event: Event, before: Settled | None) -> FinalRole:
    """What the record that it continues is, and never a first scene of its own."""
    if before is None or before.event.entry.source != event.entry.source:
        return "unknown"
    return "scene" if before.role == "first-scene" else before.role


def _role(event: Event, choice: Choice, book: RuleBook) -> FinalRole:
    scene = choice.scene
    if event is scene:
        return "first-scene"
    if event in choice.survived:
        return "echo" if scene is not None and _is_after(event, scene) else "noise"
    if event.role in {"pointer", "echo"}:
        return "pointer" if event.role == "pointer" else "echo"
    if event.role == "noise":
        with_scene = event.rule is not None and event.rule.with_scene and scene is not None and _beside(event, scene)
        return "scene" if with_scene else "noise"
    return _unknown(event, scene) if event.role == "unknown" else _report(event, scene, book)


def _is_after(event: Event, scene: Event) -> bool:
    return scene.time is not None and event.time is not None and event.time > scene.time


def _report(event: Event, scene: Event | None, book: RuleBook) -> FinalRole:
    """A first scene that was not chosen, or a detail: part of the scene, or a later fault that repeats it."""
    if scene is None:
        return "unknown"
    return "scene" if _fits(event, scene, book) and _beside(event, scene) else "echo"


def _fits(event: Event, scene: Event, book: RuleBook) -> bool:
    """Same family of faults; a detail without a kind fits any."""
    mine, its = book.kind(event.kind), book.kind(scene.kind)
    return mine is None or its is None or mine.family == its.family


def _beside(event: Event, scene: Event) -> bool:
    """Whether a record belongs to the dump of the first scene: same writer, and not a copy of it in a traceback."""
    mine, its = event.entry, scene.entry
    if mine.form == "text":
        if its.form == "text":
            return (
                mine.source == its.source
                and mine.block == its.block
                and (mine.block >= 0 or event.process == scene.process)
            )
        return mine.source == its.source and not mine.prefixed and _within(event, scene, _AT_ONCE, _AT_ONCE)
    if mine.form == "kernel" or its.form == "kernel":
        return mine.form == its.form and mine.source == its.source and _within(event, scene, _BEFORE, _AFTER)
    return event.process == scene.process and _within(event, scene, _BEFORE, _AFTER)


def _within(event: Event, scene: Event, before: int, after: int) -> bool:
    if event.time is None or scene.time is None:
        return event.entry.source == scene.entry.source
    return -before <= event.time - scene.time <= after


def _unknown(event: Event, scene: Event | None) -> FinalRole:
    """A record that no rule knows: the thread that reported the scene wrote it, it came later, or long before."""
    if scene is None or scene.time is None or event.time is None:
        return "unknown"
    late = event.time - scene.time
    if 0 <= late <= _AT_ONCE and event.process == scene.process and _thread(event) == _thread(scene) is not None:
        return "scene"
    if late >= 0:
        return "echo"
    return "noise" if late < -_LONG_BEFORE and event.process == scene.process else "unknown"


def _thread(event: Event) -> str | None:
    hit = _THREAD.match(event.entry.subject)
    return hit["thread"] if hit else None


def precise_kind(scene: Event, settled: list[Settled], book: RuleBook) -> str:
    """The kind of the first scene, made precise by its details."""
    own = book.kind(scene.kind)
    if scene.kind is None or own is None:
        return "unknown"
    if not own.generic:
        return scene.kind
    for each in settled:
        kind = book.kind(each.event.kind)
        if each.role == "scene" and kind is not None and not kind.generic and kind.family == own.family:
            return each.event.kind or scene.kind
    return scene.kind
