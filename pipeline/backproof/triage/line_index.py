"""Line numbers of records, and the lists of lines of each class."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from backproof.triage import events, roles, scan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.triage.events import Event
    from backproof.triage.inputs import Source
    from backproof.triage.roles import ClassifiedEvent

_NUMBERED: Final = 64 << 20
"""Bytes of input up to which every listed line gets its number; beyond, only the earliest few of each class do, for
counting lines reads the file a second time."""
_FEW: Final = 20


class LineIndex:
    """The records whose lines are named (`listed`), and where each of them stands."""

    def __init__(self, sources: Sequence[Source], records: Sequence[ClassifiedEvent]) -> None:
        self.size = sum(source.size for source in sources)
        self.listed = records if self.size <= _NUMBERED else _select_earliest(records)
        self._sources = sources
        self._lines = _number_lines(sources, self.listed)

    def locate_event(self, event: Event) -> tuple[str, int]:
        """Return file and line; 0 when the lines of the file were not counted."""
        return self._sources[event.entry.source].label, self._lines.get(event.place) or 0

    def name_place(self, event: Event) -> str:
        """Return `file:line`; the file alone when its lines were not counted."""
        file, line = self.locate_event(event)
        return f"{file}:{line}" if line else file

    def list_lines(self) -> Mapping[str, tuple[str, ...]]:
        """Return the lines of each class; a line with two records stands under the more telling one."""
        best: dict[str, int] = {}
        for record in self.listed:
            name, rank = self.name_place(record.event), roles.BEST_FIRST.index(record.role)
            best[name] = min(rank, best.get(name, rank))
        lists: dict[str, list[str]] = defaultdict(list)
        for name, rank in best.items():
            lists[roles.BEST_FIRST[rank]].append(name)
        return defaultdict(tuple, {role: tuple(names) for role, names in lists.items()})


def _select_earliest(records: Sequence[ClassifiedEvent]) -> list[ClassifiedEvent]:
    counts: Counter[str] = Counter()
    earliest = []
    for record in sorted(records, key=lambda record: events.get_time_key(record.event)):
        counts[record.role] += 1
        if counts[record.role] <= _FEW or record.role == "detail":
            earliest.append(record)
    return earliest


def _number_lines(sources: Sequence[Source], listed: Sequence[ClassifiedEvent]) -> dict[tuple[int, int], int]:
    """Return line numbers by place. Small files were counted while they were read."""
    lines = {record.event.place: record.event.entry.line for record in listed}
    missing: dict[int, list[int]] = defaultdict(list)
    for source, offset in sorted(place for place, line in lines.items() if not line):
        missing[source].append(offset)
    for source, offsets in missing.items():
        lines.update({(source, offset): line for offset, line in scan.count_lines(sources[source].path, offsets)})
    return lines
