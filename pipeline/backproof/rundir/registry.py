"""The stages as the layers below them see them: name, record, role. Whoever knows the stages hands this in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from backproof.core.model import StageRole

if TYPE_CHECKING:
    from backproof.core.model import Record


class StageFacts(Protocol):
    """A stage without its work."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a module's constant
        ...

    @property
    def NEEDS(self) -> tuple[type[Record], ...]:  # noqa: N802
        """The records of the stages whose pass this one needs."""
        ...

    @property
    def RECORD(self) -> type[Record]:  # noqa: N802
        """The model of the file that it leaves, `<name>/<name>.json`."""
        ...

    @property
    def ROLE(self) -> StageRole:  # noqa: N802
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Registry:
    """All stages, in the order in which each rests on those before it."""

    stages: tuple[StageFacts, ...]
    on_request: tuple[StageFacts, ...] = ()
    """Those that are not part of every run."""

    def name_of(self, record: type[Record]) -> str:
        """Return the name of the stage that leaves this record."""
        return next(stage.NAME for stage in self.stages if stage.RECORD is record)

    def path_of(self, record: type[Record]) -> str:
        """Return the path of a record in the run folder."""
        name = self.name_of(record)
        return f"{name}/{name}.json"

    def record_of(self, name: str) -> type[Record] | None:
        """Return the record of a stage; None for a name that is no stage."""
        return next((stage.RECORD for stage in self.stages if name == stage.NAME), None)

    def role_of(self, name: str) -> StageRole:
        """Return a stage's role; a name that is no stage counts as proof, so that it cannot hide an outcome."""
        return next((stage.ROLE for stage in self.stages if name == stage.NAME), StageRole.PROOF)

    def is_on_request(self, name: str) -> bool:
        """Return whether a stage only runs when its own command asks for it."""
        return name in {stage.NAME for stage in self.on_request}

    def position_of(self, name: str) -> int:
        """Return where a stage stands in the order; a name that is no stage stands last."""
        names = [stage.NAME for stage in self.stages]
        return names.index(name) if name in names else len(names)

    def path_to(self, record: type[Record]) -> tuple[str, ...]:
        """Return the names of all stages that must pass for this record, its own last."""
        stage = next(stage for stage in self.stages if stage.RECORD is record)
        return (*(self.name_of(needed) for needed in stage.NEEDS), stage.NAME)
