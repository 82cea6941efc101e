"""The timeline of a triage: ranks as rows, time as x, the first fault marked, its secondary errors faint.

Numbers and words only; `reports/timeline.html.j2` draws them, and says each number as text too.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backproof.report.broken_axis import Axis, length
from backproof.triage.timestamps import show

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
        """None when no record has a clock: there is nothing to draw."""
        points = result.timeline
        if not points:
            return None
        axis = Axis.of((each.us for each in points), left=_LABELS + 22, right=WIDTH - 14)
        fault = next((each for each in points if each.role == "first-fault"), None)
        zero = (fault or points[0]).us
        names = _names(points, fault)
        lanes = tuple(
            _lane(name, [each for each in points if each.lane == name], axis, zero, _TOP + _ROW * index)
            for index, name in enumerate(names[:_LANES])
        )
        at = next((each.y for each in lanes if fault and each.name == fault.lane), 0.0)
        return cls(
            height=_TOP + _ROW * len(lanes) + 8,
            lanes=lanes,
            more=max(0, len(names) - _LANES),
            folds=axis.folds,
            ends=((axis.at(points[0].us), show(points[0].us)), (axis.at(points[-1].us), show(points[-1].us))),
            origin="the first fault" if fault else "the first record",
            fault=(axis.at(fault.us), at) if fault else None,
            points=len(points),
        )

    @property
    def sentence(self) -> str:
        """The drawing in words, for those who do not see it."""
        hidden = f", {self.more} more rows are not drawn" if self.more else ""
        rows = "1 row" if len(self.lanes) == 1 else f"{len(self.lanes)} rows"
        found = f"{self.points} records in {rows}{hidden}, {self.ends[0][1]} to {self.ends[1][1]}"
        if self.fault is None:
            return f"{found}; none of them is a first fault."
        lane = next(each for each in self.lanes if each.y == self.fault[1])
        return f"{found}; the first fault is in the row {lane.name}. The table below has the numbers."


def _names(points: Sequence[Point], fault: Point | None) -> list[str]:
    """Rows in the order of their numbers; the row of the fault is there even when not all are."""
    names = sorted({each.lane for each in points}, key=_natural)
    if fault and fault.lane in names[_LANES:]:
        names.remove(fault.lane)
        names.insert(0, fault.lane)
    return names


def _natural(name: str) -> list[tuple[int, str]]:
    return [(int(each), "") if each.isdecimal() else (-1, each) for each in re.split(r"(\d+)", name[:200])]


def _lane(name: str, points: Sequence[Point], axis: Axis, zero: int, y: float) -> Lane:
    counts = Counter(each.role for each in points)
    first = min(points, key=lambda each: each.us)
    return Lane(
        name=name,
        y=y,
        marks=tuple(_marks(points, axis, zero)),
        counts=tuple((role, counts[role]) for role in reversed(_FAINTEST_FIRST) if counts[role]),
        first=show(first.us),
        offset=_after(first.us - zero),
        where=first.where,
    )


def _marks(points: Sequence[Point], axis: Axis, zero: int) -> list[Mark]:
    """The telling marks come last, for what comes last is drawn on top."""
    marks: list[Mark] = []
    for role in _FAINTEST_FIRST:
        mine: list[Mark] = []
        for each in (point for point in points if point.role == role):
            x = axis.at(each.us)
            if mine and x - mine[-1].x < _SAME:
                last = mine.pop()
                mine.append(Mark(x=last.x, role=role, where=last.where, offset=last.offset, count=last.count + 1))
            else:
                mine.append(Mark(x=x, role=role, where=each.where, offset=_after(each.us - zero), count=1))
        marks += mine
    return marks


def _after(us: int) -> str:
    return "0 s" if us == 0 else f"{length(abs(us))} {'after' if us > 0 else 'before'}"
