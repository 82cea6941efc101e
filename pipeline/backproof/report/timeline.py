"""The timeline of a triage: ranks as rows, time as x, the first fault marked, its secondary errors faint.

Numbers and words only; `reports/timeline.html.j2` draws them, and says each number as text too.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from backproof.report.broken_axis import Axis, describe_length
from backproof.triage.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.triage import Point, TriageResult

WIDTH: Final = 960.0
_LABELS: Final = 150.0
_TOP: Final = 46.0
_ROW: Final = 24.0
_LANES: Final = 64
_SAME: Final = 4.0
"""Marks closer than this would be one mark to the eye; they are drawn as one, with their count."""
_FAINTEST_FIRST: Final = ("noise", "unknown", "secondary", "pointer", "detail", "first-fault")


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """One record, or several of the same class that lie on each other."""

    x: float
    role: str
    where: str
    offset: str
    count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Lane:
    """One rank or process."""

    name: str
    y: float
    marks: tuple[Mark, ...]
    counts: tuple[tuple[str, int], ...]
    first: str
    offset: str
    where: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Timeline:
    """What is drawn."""

    height: float
    lanes: tuple[Lane, ...]
    more: int
    folds: tuple[tuple[float, str], ...]
    ends: tuple[tuple[float, str], ...]
    origin: str
    fault: tuple[float, float] | None
    points: int

    @classmethod
    def of(cls, result: TriageResult) -> Timeline | None:
        """Return None when no record has a clock: there is nothing to draw."""
        points = result.timeline
        if not points:
            return None
        axis = Axis.of((point.us for point in points), left=_LABELS + 22, right=WIDTH - 14)
        fault = next((point for point in points if point.role == "first-fault"), None)
        zero = (fault or points[0]).us
        names = _name_rows(points, fault)
        lanes = tuple(
            _draw_lane(name, [point for point in points if point.lane == name], axis, zero, _TOP + _ROW * index)
            for index, name in enumerate(names[:_LANES])
        )
        at = next((lane.y for lane in lanes if fault and lane.name == fault.lane), 0.0)
        return cls(
            height=_TOP + _ROW * len(lanes) + 8,
            lanes=lanes,
            more=max(0, len(names) - _LANES),
            folds=axis.folds,
            ends=(
                (axis.at(points[0].us), format_time(points[0].us)),
                (axis.at(points[-1].us), format_time(points[-1].us)),
            ),
            origin="the first fault" if fault else "the first record",
            fault=(axis.at(fault.us), at) if fault else None,
            points=len(points),
        )

    @property
    def sentence(self) -> str:
        """The drawing in words, for those who do not see it."""
        hidden = f", {self.more} more rows are not drawn" if self.more else ""
        rows = "1 row" if len(self.lanes) == 1 else f"{len(self.lanes)} rows"
        extent = f"{self.points} records in {rows}{hidden}, {self.ends[0][1]} to {self.ends[1][1]}"
        if self.fault is None:
            return f"{extent}; none of them is a first fault."
        lane = next(lane for lane in self.lanes if lane.y == self.fault[1])
        return f"{extent}; the first fault is in the row {lane.name}. The table below has the numbers."


def _name_rows(points: Sequence[Point], fault: Point | None) -> list[str]:
    """List the rows in the order of their numbers; the row of the fault is there even when not all are."""
    names = sorted({point.lane for point in points}, key=_split_numbers)
    if fault and fault.lane in names[_LANES:]:
        names.remove(fault.lane)
        names.insert(0, fault.lane)
    return names


def _split_numbers(name: str) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", name[:200])]


def _draw_lane(name: str, points: Sequence[Point], axis: Axis, zero: int, y: float) -> Lane:
    counts = Counter(point.role for point in points)
    first = min(points, key=lambda point: point.us)
    return Lane(
        name=name,
        y=y,
        marks=tuple(_draw_marks(points, axis, zero)),
        counts=tuple((role, counts[role]) for role in reversed(_FAINTEST_FIRST) if counts[role]),
        first=format_time(first.us),
        offset=_describe_offset(first.us - zero),
        where=first.where,
    )


def _draw_marks(points: Sequence[Point], axis: Axis, zero: int) -> list[Mark]:
    """Draw the telling marks last, for what comes last is drawn on top."""
    marks: list[Mark] = []
    for role in _FAINTEST_FIRST:
        same_role: list[Mark] = []
        for point in (point for point in points if point.role == role):
            x = axis.at(point.us)
            if same_role and x - same_role[-1].x < _SAME:
                same_role[-1] = replace(same_role[-1], count=same_role[-1].count + 1)
            else:
                offset = _describe_offset(point.us - zero)
                same_role.append(Mark(x=x, role=role, where=point.where, offset=offset, count=1))
        marks += same_role
    return marks


def _describe_offset(us: int) -> str:
    return "0 s" if us == 0 else f"{describe_length(abs(us))} {'after' if us > 0 else 'before'}"
