"""One round: the part of the schedule that asks for it, and all that it depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backproof.core.model import Arm, Record
    from backproof.core.time_budget import TimeBudget
    from backproof.kit.serving import Serve
    from backproof.records.serving import Round


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundSpec:
    """A round to come: one service with its arguments on one arm."""

    serve: Serve
    arguments: tuple[str, ...]
    arm: Arm
    number: int
    group: str
    """The id of the [[serve]] or of the experiment, whose rounds share a folder."""
    label: str
    """The name of the arm or of the side of an experiment in that folder."""

    @property
    def name(self) -> str:
        return f"{self.serve.id} on {self.arm}, round {self.number}"


@dataclass(frozen=True, kw_only=True, slots=True)
class RoundContext:
    """A round with everything it depends on, put together before anything starts."""

    spec: RoundSpec
    env: Mapping[str, str]
    python: Path
    words: Mapping[str, str]
    digest: str
    host: str
    boot_id: str
    folder: Path
    """Its evidence."""
    logs: Path | None
    """The folder of its device logs."""
    budget: TimeBudget
    say: Callable[[str], None]
    keep: Callable[[str, Record], None]
    url: str = ""
    earlier: Round | None = None
    """The round as an earlier run left it."""
    settle: float = 3.0
    """Seconds for a service that failed to end, and for the device's log to reach the host (2 s at exit)."""

    @property
    def serve(self) -> Serve:
        return self.spec.serve

    @property
    def name(self) -> str:
        return self.spec.name
