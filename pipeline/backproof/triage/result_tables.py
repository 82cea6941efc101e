"""The tables of a result: status words, errors of each process, the distribution, the timeline."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final, Literal

from backproof.records.triage import Point, Pointer, RankCount, Shape
from backproof.triage import codes, correlate, events, timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backproof.triage.collect import FileSummary
    from backproof.triage.events import Event, Process, World
    from backproof.triage.inputs import Source
    from backproof.triage.line_index import LineIndex
    from backproof.triage.roles import ClassifiedEvent
    from backproof.triage.rules import RuleBook

_POINTS: Final = 2000
_SHAPES: Final = 50


def decode_pointers(index: LineIndex, parts: Sequence[Event], book: RuleBook) -> Iterator[Pointer]:
    """Take the status words apart, and join each to the record of the fault that reports the same task."""
    for event in (record.event for record in index.listed):
        groups = book.find_groups(event.entry.rule, event.subject) if event.role == "pointer" else {}
        if "sw" not in groups:
            continue
        word = correlate.decode_status(groups["sw"])
        own_parts = (part for part in parts if part.process == event.process)
        target = next((part for part in own_parts if correlate.find_task(part.subject) == word.task), None)
        yield Pointer(
            where=index.name_place(event),
            status=groups["sw"],
            result=codes.decode_code("sqsw", str(word.result)).meaning or str(word.result),
            queue=word.queue,
            task=word.task,
            joined=index.name_place(target) if target else None,
        )


def count_ranks(
    sources: Sequence[Source], summaries: Iterable[FileSummary], world: World, records: Sequence[ClassifiedEvent]
) -> list[RankCount]:
    """Count the errors of each process, by rank."""
    errors: Counter[Process] = Counter()
    for summary in summaries:
        for pid, count in summary.errors.items():
            errors[events.name_process(sources[summary.source].label, pid)] += count
    by_process: dict[Process, list[ClassifiedEvent]] = defaultdict(list)
    for record in records:
        by_process[record.event.process].append(record)
    rows = [_count_rank(process, count, world, by_process[process]) for process, count in errors.items()]
    return sorted(rows, key=lambda row: (row.rank is None, row.rank or 0, row.host, row.process))


def _count_rank(process: Process, count: int, world: World, records: Sequence[ClassifiedEvent]) -> RankCount:
    times = [record.event.time for record in records if record.event.time is not None]
    return RankCount(
        host=process[0],
        process=process[1],
        rank=world.ranks.get(process),
        device=world.devices.get(process),
        errors=count,
        first=timestamps.format_time(min(times)) if times else None,
        role=_find_worst_role(records),
    )


def _find_worst_role(records: Sequence[ClassifiedEvent]) -> Literal["first-fault", "secondary", "noise", "unknown"]:
    present = {record.role for record in records}
    if present & {"first-fault", "detail"}:
        return "first-fault"
    if present & {"secondary", "pointer"}:
        return "secondary"
    return "noise" if "noise" in present else "unknown"


def count_shapes(summaries: Iterable[FileSummary]) -> list[Shape]:
    """Count the errors that differ in digits only, the most frequent first."""
    total: Counter[str] = Counter()
    for summary in summaries:
        total.update(summary.shapes)
    return [Shape(count=count, text=text) for text, count in total.most_common(_SHAPES)]


def make_timeline(index: LineIndex, records: Sequence[ClassifiedEvent]) -> list[Point]:
    """Return the records with a clock, thinned evenly when there are too many; the fault is always there."""
    dated = [(record.event.time, record) for record in records if record.event.time is not None]
    step = (len(dated) + _POINTS - 1) // _POINTS
    points = [
        Point(us=at, lane=_name_lane(record.event), role=record.role, where=index.name_place(record.event))
        for number, (at, record) in enumerate(dated)
        if number % step == 0 or record.role in {"first-fault", "detail"}
    ]
    return sorted(points, key=lambda point: point.us)


def _name_lane(event: Event) -> str:
    host = f"{event.process[0]} " if event.process[0] else ""
    return f"{host}rank {event.rank}" if event.rank is not None else f"{host}{event.process[1]}"
