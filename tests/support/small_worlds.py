"""Small worlds made by hand: a few records on one clock, for what is decided from nothing else."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from backproof.triage import rules
from backproof.triage.choose_fault import SignsOfLife
from backproof.triage.collect import CONTINUED, UNKNOWN, LogRecord
from backproof.triage.events import Event, Lifetime, World
from backproof.triage.line_header import Head
from backproof.triage.rules import Kind, Rule
from backproof.triage.timestamps import SECOND, Clock

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.triage.rules import Role, RuleBook

KINDS: Final = {
    "core": Kind(family="core", generic=True, meaning="a kernel faulted", advice="Rerun the kernel."),
    "mte": Kind(family="core", meaning="an address was out of range", advice="Look at the indices."),
    "memory": Kind(family="memory", survivable=True, meaning="no memory was left", advice="Reserve less."),
    "tiling": Kind(family="op", survivable=True, meaning="the shapes were refused", advice="Look at the shapes."),
    "link": Kind(family="link", meaning="a link failed", advice="Check the cable."),
}


def make_rule(role: Role, kind: str | None = None, **more: object) -> Rule:
    given = {"id": role, "pattern": "x", "meaning": role, "example": "x", "counterexample": "y"}
    return Rule.model_validate(given | {"role": role, "kind": kind} | more)


def make_book(*of: Rule, kinds: Mapping[str, Kind] = KINDS) -> RuleBook:
    return rules._build_book(of, kinds)


BOOK: Final = make_book()


def to_us(seconds: float) -> int:
    return round(seconds * SECOND)


def make_entry(**given: object) -> LogRecord:
    """A record; what is given are fields of it or of its head."""
    head: dict[str, Any] = {"form": "plog", "pid": 1, "subject": "RUNTIME [a.cc:1]7 it failed"}
    plain: dict[str, Any] = {"source": 0, "offset": 0, "line": 1, "rule": 0, "stamp": None, "block": -1}
    plain |= {name: value for name, value in given.items() if name in plain}
    head |= {name: value for name, value in given.items() if name not in plain}
    return LogRecord(**plain, head=Head(**head))


def make_event(
    role: Role | str = "first-fault",
    at: float | None = 0.0,
    *,
    kind: str | None = None,
    process: str = "pid 1",
    host: str = "",
    rank: int | None = None,
    device: int | None = None,
    due: float = 0,
    of: Rule | None = None,
    **given: object,
) -> Event:
    """A record `at` seconds. Its rule is `of`, or a bare one of its role; the rest are fields of the entry."""
    bare = {"unknown": UNKNOWN, "continued": CONTINUED}
    applied = None if role in bare else of or _make_bare_rule(role)
    return Event(
        entry=make_entry(**({"rule": bare.get(role, 0)} | given)),
        rule=applied,
        process=(host, process),
        time=None if at is None else to_us(at),
        rank=rank,
        device=device,
        kind=kind,
        due=to_us(due),
    )


@cache
def _make_bare_rule(role: str) -> Rule:
    return Rule.model_validate(make_rule("secondary").model_dump() | {"role": role, "id": role})


def make_life(created: float | None = None, last: float | None = None) -> Lifetime:
    return Lifetime(
        created=None if created is None else to_us(created), first=None, last=None if last is None else to_us(last)
    )


def make_world(
    events: Sequence[Event],
    *,
    lives: Mapping[str, Lifetime] | None = None,
    ranks: Mapping[tuple[str, str], int] | None = None,
    devices: Mapping[tuple[str, str], int] | None = None,
    notes: tuple[str, ...] = (),
) -> World:
    return World(
        events=tuple(events),
        lives={("", process): lifetime for process, lifetime in (lives or {}).items()},
        ranks=ranks or {},
        devices=devices or {},
        clock=Clock(near=0, boots={}),
        marks=(),
        notes=notes,
    )


def make_signs(*, healthy: Sequence[float] = (), loads: Sequence[float] = ()) -> SignsOfLife:
    return SignsOfLife(healthy=tuple(map(to_us, healthy)), loads=tuple(map(to_us, loads)))
