"""What a stage gets to work with, and what a stage is."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backproof.kit.plan import Plan
    from backproof.records.proof import Settings, StageResult
    from backproof.rundir.ledger import Ledger


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """One run: its plan, its folder, its settings, and how to say what is going on.

    `effects` is closed when the command ends, however it ends: what a stage changes outside the run folder, it
    registers there to be undone. `hold` says that the user asked for the overlay to stay.
    """

    ledger: Ledger
    plan: Plan
    kit: Path
    settings: Settings
    say: Callable[[str], None]
    hold: bool = False
    effects: ExitStack = field(default_factory=ExitStack)


class Stage(Protocol):
    """A module of `backproof.stages`."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        ...

    @property
    def NEEDS(self) -> tuple[str, ...]:  # noqa: N802
        """Stages whose pass this one needs."""
        ...

    @property
    def REUSABLE(self) -> bool:  # noqa: N802
        """False for a stage whose effect lies outside the run folder."""
        ...

    def inputs(self, ctx: Context) -> Mapping[str, Any]:
        """All that the result depends on; an equal digest means that the result is reused."""
        ...

    def run(self, ctx: Context) -> StageResult: ...
