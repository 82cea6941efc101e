"""Time on a line of fixed width. Long silences are folded: a fault and its timeouts are minutes apart, secondary errors less.

Numbers only; a template draws.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOLD = 4
"""A silence is folded when it is this many times longer than all shorter ones together: drawn, it would hide them."""
_MOST = 5
"""Stretches that a reader still follows."""
_LOOKED_AT = 32
_GAP = 34.0
"""Drawing units of a folded silence."""
_LEAST = 60.0
"""Drawing units of a stretch, however short: marks of one burst must not lie on each other."""
_UNITS = ((3_600_000_000, "h"), (60_000_000, "min"), (1_000_000, "s"), (1_000, "ms"), (1, "µs"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """A piece of time without a long silence, and where it is drawn."""

    first: int
    last: int
    left: float
    right: float

    def at(self, us: int) -> float:
        share = (us - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return round(self.left + share * (self.right - self.left), 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Axis:
    """From microseconds to a place on the line."""

    stretches: tuple[Stretch, ...]

    @classmethod
    def of(cls, times: Iterable[int], *, left: float, right: float) -> Axis:
        """Return an axis that has each of the times; at least one is needed."""
        parts = _cut_at_silences(sorted(set(times)), most=_MOST)
        room = (right - left) - _GAP * (len(parts) - 1) - _LEAST * len(parts)
        whole = sum(last - first for first, last in parts) or 1
        stretches, place = [], left
        for first, last in parts:
            width = _LEAST + room * ((last - first) / whole if len(parts) > 1 else 1)
            stretches.append(Stretch(first=first, last=last, left=round(place, 1), right=round(place + width, 1)))
            place += width + _GAP
        return cls(stretches=tuple(stretches))

    def at(self, us: int) -> float:
        return self.stretches[max(0, bisect_right(self.stretches, us, key=lambda stretch: stretch.first) - 1)].at(us)

    @property
    def folds(self) -> tuple[tuple[float, str], ...]:
        """The middle of each folded silence, and how long it was."""
        return tuple(
            (round((before.right + after.left) / 2, 1), describe_length(after.first - before.last))
            for before, after in pairwise(self.stretches)
        )


def _cut_at_silences(times: list[int], *, most: int) -> list[tuple[int, int]]:
    """Return the first and last time of each stretch: what is between two of them is a folded silence."""
    gaps = sorted(((after - before, index) for index, (before, after) in enumerate(pairwise(times))), reverse=True)
    cuts = [index for gap, index in gaps[:_LOOKED_AT] if 0 < _FOLD * _sum_shorter(gaps, gap) < gap][: most - 1]
    starts = [0, *(index + 1 for index in sorted(cuts))]
    ends = [*(index for index in sorted(cuts)), len(times) - 1]
    return [(times[start], times[end]) for start, end in zip(starts, ends, strict=True)]


def _sum_shorter(gaps: list[tuple[int, int]], gap: int) -> int:
    return sum(silence for silence, _ in gaps if silence * _FOLD < gap)


def describe_length(us: int) -> str:
    """Return a duration for people: the largest unit that is not below one."""
    for size, unit in _UNITS:
        if abs(us) >= size:
            return f"{us / size:.4g} {unit}"
    return "0 s"
