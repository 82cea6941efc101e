"""The context that a stage works in, and the Protocol of a stage."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from backproof.adapters.environment import select_environment
from backproof.adapters.git import Store
from backproof.core.errors import PlanError
from backproof.core.model import Record, StageRecord
from backproof.kit.loader import load_plan
from backproof.rundir.registry import StageFacts
from backproof.rundir.subject import digest_subject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from backproof.core.model import Evidence
    from backproof.kit.plan import OffersModels, Plan, Service
    from backproof.records.proof import Run, Settings, StageResult
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.registry import Registry

Say: TypeAlias = "Callable[[str], None]"
"""Where progress goes, line by line."""
R = TypeVar("R", bound=Record)
OptionsT = TypeVar("OptionsT")


def prepare_service(service: Service, device: OffersModels) -> Service:
    """Return the service as it is started here: with the variables that its device and the plan let through."""
    passed = select_environment((*device.TRAITS.passes, *service.passes))
    return service.model_copy(update={"env": {**passed, **service.env}})


@dataclass(frozen=True, kw_only=True)
class Context:
    """One run: its plan, its folder, its settings, the records of earlier stages, and where progress goes.

    Args:
        devices: those that the expectations of a plan can be for, by name.
        run: as it stood when the stage began.
        options: what the command line asked of the stage, an instance of its `Options`; None for its defaults.
        hold: the user asked for the overlay to stay.
        wait: seconds that a stage waits for a target or a device that another run has.
        effects: closed when the command ends, however it ends: a stage registers there what undoes its changes
            outside the run folder.
    """

    ledger: Ledger
    kit: Path
    settings: Settings
    registry: Registry
    devices: Mapping[str, OffersModels]
    run: Run
    say: Say
    loaded_plan: Plan | None = None
    options: object = None
    hold: bool = False
    wait: float = 0
    effects: ExitStack = field(default_factory=ExitStack)
    records: dict[type[Record], Record] = field(default_factory=dict)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the kit; what only adds to a finished run may not need it, and may not have the kit."""
        return self.loaded_plan or load_plan(self.kit, self.devices)

    @cached_property
    def service(self) -> Service:
        return prepare_service(self.plan.verify.service, self.devices[self.settings.device])

    @cached_property
    def store(self) -> Store:
        """The object store of this run."""
        return Store(self.ledger.store)

    def require_record(self, kind: type[R], *, beside: type[Record] | None = None, file: str = "") -> R:
        """Return the record of an earlier stage; it is read once.

        Args:
            beside: for a record that is not its stage's own: the stage's own.
            file: with `beside`, its name in that stage's folder.

        Raises:
            PlanError: that stage has not run here.
        """
        if kind not in self.records:
            name = self.registry.name_of(beside or kind)
            path = f"{name}/{file or f'{name}.json'}"
            read = self.ledger.read_record(path, kind)
            if read is None:
                raise PlanError(
                    f"{self.ledger.folder}: there is no {path}",
                    why=f"the stage {name} has not run here",
                    next_step=f"run `backproof run {self.ledger.folder} --only {name}` first",
                )
            self.records[kind] = read
        record = self.records[kind]
        assert isinstance(record, kind)  # noqa: S101 - the key is the type
        return record

    def keep_record(self, record: Record, *, claim: str, command: str) -> Evidence:
        """Write the record of this stage and register it as evidence."""
        if isinstance(record, StageRecord):
            record = record.model_copy(update={"subject": digest_subject(self.run)})
        self.records[type(record)] = record
        return self.ledger.write_evidence(self.registry.path_of(type(record)), record, claim=claim, command=command)

    def read_options(self, kind: type[OptionsT]) -> OptionsT:
        """Return what the command line asked of this stage, or its defaults."""
        return self.options if isinstance(self.options, kind) else kind()


class Stage(StageFacts, Protocol):
    """A module of `backproof.stages`."""

    @property
    def REUSABLE(self) -> bool:  # noqa: N802 - a module's constant
        """False for a stage whose effect lies outside the run folder."""
        ...

    def inputs(self, ctx: Context) -> Mapping[str, Any]:
        """Return all that the result depends on; an equal digest means that the result is reused."""
        ...

    def run(self, ctx: Context) -> StageResult: ...
