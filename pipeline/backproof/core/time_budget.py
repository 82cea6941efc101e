"""An hour on a device host is dear: what is worth starting, and what the rest of the budget does not reach."""

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
class Budget:
    """Seconds from now; None is no limit."""

    limit: float | None = None
    clock: Callable[[], float] = time.monotonic
    begun: float = field(default=-1.0)

    def start(self) -> Budget:
        return Budget(limit=self.limit, clock=self.clock, begun=self.clock())

    @property
    def left(self) -> float:
        return float("inf") if self.limit is None else self.limit - (self.clock() - self.begun)

    def allows(self, seconds: float) -> bool:
        """Whether work that takes about so long still fits. What never ran before is estimated by nothing: it may start."""
        return self.left > 0 and seconds <= self.left


def parse(text: str | None) -> Budget:
    """Read `90s`, `45m` or `1.5h`.

    Raises:
        PlanError: it is none of these.
    """
    if text is None:
        return Budget()
    found = _SPAN.match(text.strip())
    if found is None or not float(found["number"]):
        raise PlanError(
            f"--budget {text}: no span of time", why="it must be a number and s, m or h", next_step="give 45m or 1.5h"
        )
    return Budget(limit=float(found["number"]) * _UNITS[found["unit"]])
