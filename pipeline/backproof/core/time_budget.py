"""A time budget for costly device hosts: it decides which work may still start."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

_SPAN: Final = re.compile(r"^(?P<number>\d+(?:\.\d+)?)(?P<unit>[smh])$")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeBudget:
    """Seconds from now; None is no limit."""

    limit: float | None = None
    clock: Callable[[], float] = time.monotonic
    begun: float = field(default=-1.0)

    def start(self) -> TimeBudget:
        return TimeBudget(limit=self.limit, clock=self.clock, begun=self.clock())

    @property
    def left(self) -> float:
        return float("inf") if self.limit is None else self.limit - (self.clock() - self.begun)

    def allows(self, seconds: float) -> bool:
        """Return whether work of about this duration still fits; give 0 for work of unknown duration."""
        return self.left > 0 and seconds <= self.left


def parse_budget(text: str | None) -> TimeBudget:
    """Read `90s`, `45m` or `1.5h`.

    Raises:
        PlanError: the text is something else.
    """
    if text is None:
        return TimeBudget()
    span = _SPAN.match(text.strip())
    if span is None or not float(span["number"]):
        raise PlanError(
            f"--budget {text}: not a duration",
            why="it must be a positive number followed by s, m or h",
            next_step="give 45m or 1.5h",
        )
    return TimeBudget(limit=float(span["number"]) * _UNITS[span["unit"]])
