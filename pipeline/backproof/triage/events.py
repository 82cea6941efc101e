"""Records of all files on one clock, each tied to a process, a rank and a device."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from backproof.triage import codes, correlate, timestamps
from backproof.triage.collect import CONTINUED, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.triage.collect import Entry, Tally
    from backproof.triage.inputs import Source
    from backproof.triage.rules import Rule, RuleBook
    from backproof.triage.timestamps import Stamp

Process = tuple[str, str]
"""(host, "pid 123" or the label of a file): process ids repeat from host to host."""
_HEX: Final = re.compile(r"errcode:\((?P<a>0x[0-9a-fA-F]+|\d+)|error code = (?P<b>0x[0-9a-fA-F]+|\d+)")


@dataclass(frozen=True, kw_only=True, eq=False)
class Event:
    """A record on the common clock. `time` orders it (microseconds, None without a clock).

    Each is equal to itself only: two records of one line share their place.
    """

    entry: Entry
    rule: Rule | None
    process: Process
    time: int | None
    rank: int | None
    device: int | None
    kind: str | None
    due: int = 0

    @property
    def role(self) -> str:
        if self.rule is not None:
            return self.rule.role
        return "continued" if self.entry.rule == CONTINUED else "unknown"

    @cached_property
    def began(self) -> int | None:
        """`time`, or for a timeout the moment it started to wait."""
        return None if self.time is None else self.time - self.due

    @property
    def place(self) -> tuple[int, int]:
        return self.entry.source, self.entry.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """When a process wrote its first and last record, and when its log file was created (microseconds)."""

    created: int | None
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that was read, on one clock."""

    events: tuple[Event, ...]
    lives: Mapping[Process, Life]
    ranks: Mapping[Process, int]
    devices: Mapping[Process, int]
    near: int
    boots: Mapping[str, int]
    notes: tuple[str, ...]


def process_of(label: str, pid: int | None) -> Process:
    where = correlate.place(label)
    found = pid if pid is not None and pid >= 0 else where.pid
    return where.host, label if found is None else f"pid {found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What ties a record to the common clock and to a process."""

    book: RuleBook
    near: int
    boots: Mapping[str, int]
    ranks: Mapping[Process, int]
    devices: Mapping[Process, int]

    def wall(self, stamp: Stamp | None, host: str) -> Stamp | None:
        return timestamps.settle(stamp, near=self.near, boot_at=self.boots.get(host))

    def event(self, entry: Entry, label: str) -> Event:
        rule = self.book.rules[entry.rule] if entry.rule > UNKNOWN else None
        groups = self.book.groups(entry.rule, entry.subject) if rule is not None and "(?P<" in rule.pattern else {}
        who = process_of(label, entry.pid)
        own = correlate.device(entry.subject) if entry.device is None else entry.device
        return Event(
            entry=entry,
            rule=rule,
            process=who,
            time=_time(entry, self.wall(entry.stamp, who[0])),
            rank=entry.rank if entry.rank is not None else self.ranks.get(who),
            device=own if own is not None else self.devices.get(who),
            kind=_kind(rule, entry.subject, groups),
            due=_due(rule, groups),
        )


def build(sources: Sequence[Source], tallies: Sequence[Tally], book: RuleBook, now: int) -> World:
    """Resolves every stamp and every process. `now` (microseconds) is used only when no stamp has a year."""
    boots = _boots(sources, tallies)
    ranks, devices = _people(sources, tallies)
    frame = Frame(book=book, near=_near(tallies, now), boots=boots, ranks=ranks, devices=devices)
    made = [frame.event(entry, sources[tally.source].label) for tally in tallies for entry in tally.entries]
    return World(
        events=tuple(made),
        lives=_lives(sources, tallies, frame, made),
        ranks=ranks,
        devices=devices,
        near=frame.near,
        boots=boots,
        notes=_notes(tallies, boots, sources),
    )


def _near(tallies: Iterable[Tally], now: int) -> int:
    walls = [stamp.us for tally in tallies for stamp in (tally.first, tally.last) if stamp and stamp.scale == "wall"]
    walls += [
        entry.stamp.us
        for tally in tallies
        for entry in tally.entries[:1]
        if entry.stamp and entry.stamp.scale == "wall"
    ]
    return sorted(walls)[(len(walls) - 1) // 2] if walls else now


def _boots(sources: Sequence[Source], tallies: Iterable[Tally]) -> dict[str, int]:
    """Boot time per host, where a kernel log says it."""
    return {correlate.place(sources[tally.source].label).host: tally.anchors[0] for tally in tallies if tally.anchors}


def _people(sources: Sequence[Source], tallies: Sequence[Tally]) -> tuple[dict[Process, int], dict[Process, int]]:
    """Rank and device per process: HCCL's largest communicator, then the launcher's prefix, then names of folders."""
    ranks: dict[Process, tuple[int, int]] = {}
    devices: dict[Process, int] = {}
    for tally in tallies:
        label = sources[tally.source].label
        for link in tally.links:
            who = process_of(label, link.pid)
            if link.rank is not None and link.size > ranks.get(who, (-1, 0))[0]:
                ranks[who] = (link.size, link.rank)
            if link.device is not None:
                devices.setdefault(who, link.device)
    for tally in tallies:
        _named(sources[tally.source].label, tally, ranks, devices)
    return {who: rank for who, (_, rank) in ranks.items()}, devices


def _named(label: str, tally: Tally, ranks: dict[Process, tuple[int, int]], devices: dict[Process, int]) -> None:
    for pid, rank in tally.workers.items():
        ranks.setdefault(process_of(label, pid), (0, rank))
    for entry in tally.entries:
        if process_of(label, entry.pid) in devices:
            continue
        device = (
            entry.device
            if entry.device is not None
            else correlate.device(entry.subject)
            if entry.pid is not None
            else None
        )
        if device is not None:
            devices.setdefault(process_of(label, entry.pid), device)
    where = correlate.place(label)
    writers = {process_of(label, entry.pid) for entry in tally.entries} | {process_of(label, None)}
    for who in writers if len(writers) <= 2 else ():
        if where.rank is not None:
            ranks.setdefault(who, (0, where.rank))
        if where.device is not None:
            devices.setdefault(who, where.device)


def _time(entry: Entry, stamp: Stamp | None) -> int | None:
    """A coarse stamp of text means its last microsecond, for the text repeats what happened; the kernel speaks first."""
    if stamp is None or not entry.dated:
        return None
    return stamp.us if entry.form == "kernel" else stamp.latest


def _kind(rule: Rule | None, subject: str, groups: Mapping[str, str]) -> str | None:
    """The rule's kind, made precise by the error code of an AI Core report or the TS code of its task."""
    if rule is None or rule.kind != "aicore":
        return rule.kind if rule else None
    hit = _HEX.search(subject)
    precise = codes.aicore_kind(hit["a"] or hit["b"]) if hit else None
    return precise or codes.ts_kind(groups.get("ts")) or rule.kind


def _due(rule: Rule | None, groups: Mapping[str, str]) -> int:
    """Microseconds that a timeout had waited when it was written."""
    if rule is None:
        return 0
    seconds = int(groups["timeout"][:6]) if "timeout" in groups else rule.timeout_default or 0
    return seconds * timestamps.SECOND


def _lives(
    sources: Sequence[Source], tallies: Sequence[Tally], frame: Frame, made: Sequence[Event]
) -> dict[Process, Life]:
    spans: dict[Process, list[int]] = {}
    created: dict[Process, int] = {}
    for tally in tallies:
        label = sources[tally.source].label
        if correlate.place(label).pid is None:
            continue
        who = process_of(label, None)
        ends = [frame.wall(stamp, who[0]) for stamp in (tally.first, tally.last)]
        spans.setdefault(who, []).extend(stamp.us for stamp in ends if stamp)
        if (born := correlate.created(label)) is not None:
            created[who] = min(born, created.get(who, born))
    for event in made:
        if event.time is not None and event.entry.form == "plog":
            spans.setdefault(event.process, []).append(event.time)
    return {
        who: Life(created=created.get(who), first=min(span, default=None), last=max(span, default=None))
        for who, span in spans.items()
    }


def _notes(tallies: Iterable[Tally], boots: Mapping[str, int], sources: Sequence[Source]) -> tuple[str, ...]:
    hosts = {correlate.place(source.label).host for source in sources} - {""}
    notes = []
    if any(t.last and t.last.scale == "boot" for t in tallies) and not boots:
        notes.append(
            "a kernel log counts from boot and no line tells when that was: its lines are not ordered against the others (use dmesg -T)"
        )
    if len(hosts) > 1:
        notes.append(
            f"{len(hosts)} hosts ({', '.join(sorted(hosts)[:8])}): the order between them is as good as their clocks agree"
        )
    return tuple(notes)
