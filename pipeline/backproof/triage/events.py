"""Records of all files on one clock, each tied to a process, a rank and a device."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from backproof.triage import codes, correlate, timestamps
from backproof.triage.collect import LEADING, UNKNOWN
from backproof.triage.timestamps import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backproof.triage.collect import FileSummary, LogRecord
    from backproof.triage.inputs import Source
    from backproof.triage.rules import Rule, RuleBook
    from backproof.triage.serverlog import ServerMark
    from backproof.triage.timestamps import Stamp

Process = tuple[str, str]
"""(host, "pid 123" or the label of a file): process ids repeat from host to host."""
_DEVICE_TIME: Final = re.compile(r"Other info\[\d+\]:time=(?P<ts>\d{4}(?:-\d\d){3}(?::\d\d){2}(?:\.\d{3}){0,2})")
_OFFSET: Final = 600 * timestamps.SECOND
"""From here on two clocks differ; less is the time that a block takes to be printed."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Event:
    """A record on the common clock. `time` orders it (microseconds, None without a clock).

    Each is equal to itself only: two records of one line share their place.
    """

    entry: LogRecord
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
        return "unknown" if self.entry.rule == UNKNOWN else "continued"

    @property
    def leads(self) -> bool:
        """Tell the start of a traceback of which the exception, further down, says what it is."""
        return self.entry.rule == LEADING

    @cached_property
    def began(self) -> int | None:
        """`time`, or for a timeout the moment it started to wait."""
        return None if self.time is None else self.time - self.due

    @property
    def subject(self) -> str:
        return self.entry.head.subject

    @property
    def place(self) -> tuple[int, int]:
        return self.entry.source, self.entry.offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """The times of a process's first and last record, and of the creation of its log file (microseconds)."""

    created: int | None
    first: int | None
    last: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that was read, on one clock."""

    events: tuple[Event, ...]
    lives: Mapping[Process, Lifetime]
    ranks: Mapping[Process, int]
    devices: Mapping[Process, int]
    clock: Clock
    marks: tuple[ServerMark, ...]
    notes: tuple[str, ...]


def name_process(label: str, pid: int | None, host: str = "") -> Process:
    """Name the writer of a record: in a device's own log the process of the host, which its file is named after."""
    facts = correlate.read_label(label)
    writer = facts.pid if facts.device_log or pid is None or pid < 0 else pid
    return host or facts.host, label if writer is None else f"pid {writer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFactory:
    """Ties records to the common clock and to their processes."""

    book: RuleBook
    clock: Clock
    ranks: Mapping[Process, int]
    devices: Mapping[Process, int]

    def make_event(self, entry: LogRecord, label: str) -> Event:
        rule = self.book.rules[entry.rule] if entry.rule > UNKNOWN else None
        head = entry.head
        groups = self.book.find_groups(entry.rule, head.subject) if rule else {}
        process, device = name_process(label, head.pid, head.host), correlate.find_device(head)
        return Event(
            entry=entry,
            rule=rule,
            process=process,
            time=_date_record(entry, self.clock.settle_stamp(entry.stamp, process[0])),
            rank=head.rank if head.rank is not None else self.ranks.get(process),
            device=device if device is not None else self.devices.get(process),
            kind=_refine_kind(rule, head.subject, self.book),
            due=_measure_wait(rule, groups),
        )


def build_world(sources: Sequence[Source], summaries: Sequence[FileSummary], book: RuleBook, now: int) -> World:
    """Resolve every stamp and every process. `now` (microseconds) is used only when no stamp has a year."""
    clock = Clock(near=_find_median_time(summaries, now), boots=_find_boots(sources, summaries))
    ranks, devices = _identify_processes(sources, summaries)
    factory = EventFactory(book=book, clock=clock, ranks=ranks, devices=devices)
    records = [
        factory.make_event(entry, sources[summary.source].label) for summary in summaries for entry in summary.entries
    ]
    return World(
        events=tuple(records),
        lives=_trace_lifetimes(sources, summaries, factory, records),
        ranks=ranks,
        devices=devices,
        clock=clock,
        marks=tuple(sorted(_date_marks(sources, summaries, clock), key=get_time_key)),
        notes=(*_write_notes(summaries, clock.boots, sources), *_compare_clocks(records)),
    )


def _date_marks(sources: Sequence[Source], summaries: Iterable[FileSummary], clock: Clock) -> Iterator[ServerMark]:
    for summary in summaries:
        host = correlate.read_label(sources[summary.source].label).host
        for mark in (*summary.loads, *summary.marks):
            stamp = clock.settle_stamp(mark.stamp, host)
            yield replace(mark, time=stamp.us if stamp else None)


def get_time_key(dated: Event | ServerMark) -> tuple[bool, int]:
    """Return the key that sorts by time; what has no clock comes last."""
    return dated.time is None, dated.time or 0


def _find_median_time(summaries: Sequence[FileSummary], now: int) -> int:
    firsts = (entry.stamp for summary in summaries for entry in summary.entries[:1])
    stamps = (*firsts, *(stamp for summary in summaries for stamp in (summary.first, summary.last)))
    walls = sorted(stamp.us for stamp in stamps if stamp and stamp.scale == "wall")
    return walls[(len(walls) - 1) // 2] if walls else now


def _find_boots(sources: Sequence[Source], summaries: Iterable[FileSummary]) -> dict[str, int]:
    """Return the boot time per host, where a kernel log says it."""
    return {
        correlate.read_label(sources[summary.source].label).host: summary.anchors[0]
        for summary in summaries
        if summary.anchors
    }


def _identify_processes(
    sources: Sequence[Source], summaries: Sequence[FileSummary]
) -> tuple[dict[Process, int], dict[Process, int]]:
    """Find rank and device per process: HCCL's largest communicator, then the launcher's prefix, then names of folders."""
    ranks: dict[Process, tuple[int, int]] = {}
    devices: dict[Process, int] = {}
    for summary in summaries:
        label = sources[summary.source].label
        for link in summary.links:
            process = name_process(label, link.pid)
            if link.rank is not None and link.size > ranks.get(process, (-1, 0))[0]:
                ranks[process] = (link.size, link.rank)
            if link.device is not None:
                devices.setdefault(process, link.device)
    for summary in summaries:
        _apply_labels(sources[summary.source].label, summary, ranks, devices)
    return {process: rank for process, (_, rank) in ranks.items()}, devices


def _apply_labels(
    label: str, summary: FileSummary, ranks: dict[Process, tuple[int, int]], devices: dict[Process, int]
) -> None:
    for (host, pid), number in summary.workers.items():
        ranks.setdefault(name_process(label, pid, host), (0, number))
    for entry in summary.entries:
        device = correlate.find_device(entry.head) if entry.head.pid is not None else entry.head.device
        if device is not None:
            devices.setdefault(name_process(label, entry.head.pid, entry.head.host), device)
    facts = correlate.read_label(label)
    writers = {name_process(label, entry.head.pid, entry.head.host) for entry in summary.entries}
    writers.add(name_process(label, None))
    rank = facts.rank
    if rank is None and len(summary.ranks) == 1:
        rank = next(iter(summary.ranks))
    for process in writers if len(writers) <= 2 else ():
        if rank is not None:
            ranks.setdefault(process, (0, rank))
        if facts.device is not None:
            devices.setdefault(process, facts.device)


def _date_record(entry: LogRecord, stamp: Stamp | None) -> int | None:
    """Date a record: a coarse stamp of text means its last microsecond, for the text repeats what happened; the kernel speaks first."""
    if stamp is None:
        return None
    return stamp.us if entry.head.form == "kernel" else stamp.latest_us


def _refine_kind(rule: Rule | None, subject: str, book: RuleBook) -> str | None:
    """Return the rule's kind; a generic one made precise by the codes in the line, the most precise of them last."""
    kind = book.get_kind(rule.kind if rule else None)
    if rule is None or kind is None or not kind.generic:
        return rule.kind if rule else None
    precise = (codes.find_kind(code) for code in reversed(codes.find_codes(subject)))
    return next((name for name in precise if name), rule.kind)


def _measure_wait(rule: Rule | None, groups: Mapping[str, str]) -> int:
    """Return the microseconds that a timeout had waited when it was written."""
    if rule is None:
        return 0
    seconds = int(groups["timeout"][:6]) if "timeout" in groups else rule.timeout_default or 0
    return seconds * timestamps.SECOND


def _trace_lifetimes(
    sources: Sequence[Source], summaries: Sequence[FileSummary], factory: EventFactory, records: Sequence[Event]
) -> dict[Process, Lifetime]:
    spans: dict[Process, list[int]] = {}
    created: dict[Process, int] = {}
    for summary in summaries:
        label = sources[summary.source].label
        if correlate.read_label(label).pid is None:
            continue
        process = name_process(label, None)
        ends = [factory.clock.settle_stamp(stamp, process[0]) for stamp in (summary.first, summary.last)]
        spans.setdefault(process, []).extend(stamp.us for stamp in ends if stamp)
        if (born := correlate.find_creation(label)) is not None:
            created[process] = min(born, created.get(process, born))
    for event in records:
        if event.time is not None and event.entry.head.form == "plog":
            spans.setdefault(event.process, []).append(event.time)
    return {
        process: Lifetime(created=created.get(process), first=min(span, default=None), last=max(span, default=None))
        for process, span in spans.items()
    }


def _compare_clocks(records: Iterable[Event]) -> Iterator[str]:
    """Say where a block of the device shows another time than the log around it: zones differ, most often."""
    for event in records:
        hit = _DEVICE_TIME.search(event.subject)
        device = timestamps.parse_stamp(hit["ts"]) if hit else None
        if device is not None and event.time is not None and abs(device.us - event.time) >= _OFFSET:
            minutes = round((device.us - event.time) / (60 * timestamps.SECOND))
            yield f"the device's clock is {abs(minutes) / 60:.1f} h {'ahead of' if minutes > 0 else 'behind'} the log around it"
            return


def _write_notes(
    summaries: Iterable[FileSummary], boots: Mapping[str, int], sources: Sequence[Source]
) -> tuple[str, ...]:
    hosts = {correlate.read_label(source.label).host for source in sources} - {""}
    notes = []
    if any(t.last and t.last.scale == "boot" for t in summaries) and not boots:
        notes.append(
            "a kernel log counts from boot and no line tells when that was: its lines are not ordered against the others (use dmesg -T)"
        )
    if len(hosts) > 1:
        notes.append(
            f"{len(hosts)} hosts ({', '.join(sorted(hosts)[:8])}): the order between them is as good as their clocks agree"
        )
    return tuple(notes)
