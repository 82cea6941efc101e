"""All that one round depends on, put together before anything starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backproof.core.model import Arm, Record
    from backproof.core.time_budget import Budget
    from backproof.kit.serving import Serve
    from backproof.records.serving import Round


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """One round. `folder` is its evidence, `logs` where its device logs go, `known` what is left of an earlier try."""

    serve: Serve
    arguments: tuple[str, ...]
    env: Mapping[str, str]
    python: Path
    words: Mapping[str, str]
    arm: Arm
    number: int
    digest: str
    host: str
    boot_id: str
    folder: Path
    logs: Path | None
    budget: Budget
    say: Callable[[str], None]
    keep: Callable[[str, Record], None]
    url: str = ""
    known: Round | None = None
    settle: float = 3.0
    """Seconds for a service that failed to end, and for the device's log to reach the host (2 s at exit)."""

    @property
    def name(self) -> str:
        return f"{self.serve.id} on {self.arm}, round {self.number}"
