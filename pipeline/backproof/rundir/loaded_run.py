"""A run as its folder shows it now: records that are evidence and have their hash, and what has not.

The verdict and every report are made from this and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from pydantic import ValidationError

from backproof.core.errors import PlanError
from backproof.core.model import Record, StageRole
from backproof.records.audit import AuditRecord
from backproof.records.experiment import ExperimentsRecord
from backproof.records.host import DoctorRecord
from backproof.records.mutation import MutationRecord
from backproof.records.proof import (
    INVENTORY_FILE,
    PATCH_FILE,
    UPSTREAM_FILE,
    DeviceInventory,
    FixupRecord,
    InstallRecord,
    PickRecord,
    Run,
    ValidateRecord,
    VerifyRecord,
)
from backproof.records.serving import ServeRecord
from backproof.records.triage import TriageResult
from backproof.records.upstream_tests import UpstreamRecord
from backproof.rundir.ledger import RUN_FILE
from backproof.rundir.subject import find_contradictions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backproof.core.model import Evidence
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.proof import Case, Claim, StageResult
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.registry import Registry

R = TypeVar("R", bound=Record)

_PATCH_LIMIT = 200_000
_LARGEST = 32 * 1024 * 1024


class RunFiles(Protocol):
    """The files of a run, wherever they are: a run folder, a bundle."""

    @property
    def place(self) -> str:
        """Where they are, for a reader; a bundle has no place of its own."""
        ...

    def read_bytes(self, path: str, limit: int = -1) -> bytes:
        """Return a file, or its first bytes.

        Raises:
            OSError: it cannot be read.
        """
        ...

    def holds(self, evidence: Evidence) -> bool:
        """Return whether the file is there as its stage registered it."""
        ...


class _HasEvidence(Protocol):
    @property
    def evidence(self) -> tuple[Evidence, ...]: ...


class _RecordOf(Generic[R]):
    """The record of a run that has this model; None where it does not hold."""

    def __init__(self, kind: type[R]) -> None:
        self._kind = kind

    def __get__(self, run: LoadedRun, owner: type[LoadedRun]) -> R | None:
        return run.find_record(self._kind)


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadedRun:
    """One run with the records that hold and the paths that do not.

    Args:
        records: by their model; one that is absent, unreadable or altered is not there.
        contradictions: by stage, what its record says against the run's own subject, or against its raw results.
        patch: the backport as landed, in mail format.
        upstream: what was picked, as upstream has it.
    """

    run: Run
    registry: Registry
    records: Mapping[type[Record], Record] = field(default_factory=dict)
    altered: frozenset[str] = frozenset()
    contradictions: Mapping[str, str] = field(default_factory=dict)
    patch: str = ""
    upstream: str = ""
    folder: str = ""

    pick = _RecordOf(PickRecord)
    fixup = _RecordOf(FixupRecord)
    install = _RecordOf(InstallRecord)
    verify = _RecordOf(VerifyRecord)
    validate = _RecordOf(ValidateRecord)
    inventory = _RecordOf(DeviceInventory)
    mutation = _RecordOf(MutationRecord)
    audit = _RecordOf(AuditRecord)
    triage = _RecordOf(TriageResult)
    serve = _RecordOf(ServeRecord)
    experiment = _RecordOf(ExperimentsRecord)
    upstream_tests = _RecordOf(UpstreamRecord)
    doctor = _RecordOf(DoctorRecord)

    def find_record(self, kind: type[R]) -> R | None:
        """Return the record of this model, if it holds."""
        record = self.records.get(kind)
        return record if isinstance(record, kind) else None

    @property
    def stages(self) -> tuple[StageResult, ...]:
        return self.run.stages

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.verify.claims if self.verify else ()

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.validate.cases if self.validate else ()

    @property
    def experiments(self) -> tuple[ExperimentRecord, ...]:
        return self.experiment.experiments if self.experiment else ()

    @property
    def served(self) -> tuple[Case, ...]:
        """The cases that the rounds under load amount to."""
        return self.serve.cases if self.serve else ()

    def is_intact(self, evidence: tuple[Evidence, ...]) -> bool:
        """Return whether there is evidence, all of it as recorded."""
        return bool(evidence) and not any(item.path in self.altered for item in evidence)

    def find_result(self, kind: type[Record]) -> StageResult | None:
        """Return how the stage of this record ended."""
        return self.find_result_named(self.registry.name_of(kind))

    def find_result_named(self, name: str) -> StageResult | None:
        """Return how the stage of this name ended."""
        return next((result for result in self.stages if result.stage == name), None)

    def evidence_of(self, record: Record) -> tuple[Evidence, ...]:
        """Return the evidence of the stage that left this record."""
        result = self.find_result(type(record))
        return result.evidence if result else ()

    def find_file(self, path: str) -> tuple[Evidence, ...]:
        """Return the evidence that is this file; () where no stage registered it."""
        return tuple(item for stage in self.stages for item in stage.evidence if item.path == path)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence, once per path; the report's own comes last, so that the numbers in the report hold."""
        once: dict[str, Evidence] = {}
        for holder in self._list_holders():
            for item in holder.evidence:
                once.setdefault(item.path, item)
        return tuple(once.values())

    def _list_holders(self) -> Iterator[_HasEvidence]:
        """The proof first: what is put beside it later must not change a number that was written down."""
        yield from self.results_with(StageRole.PROOF)
        yield from self.claims
        yield from (*self.cases, *self.served)
        yield from self.upstream_tests.arms if self.upstream_tests else ()
        yield from self.results_with(StageRole.BESIDE)
        yield from self.experiments
        yield from self.results_with(StageRole.AFTERWARDS)

    def results_with(self, role: StageRole) -> tuple[StageResult, ...]:
        """Return the results of all stages of a role."""
        return tuple(result for result in self.stages if self.registry.role_of(result.stage) is role)


def record_paths(registry: Registry) -> dict[type[Record], str]:
    """Return where each record of a run is, and the inventory beside that of the checks."""
    paths = {stage.RECORD: registry.path_of(stage.RECORD) for stage in registry.stages}
    return {**paths, DeviceInventory: f"{registry.name_of(ValidateRecord)}/{INVENTORY_FILE}"}


def patch_paths(registry: Registry) -> tuple[str, str]:
    """Return where the backport as landed is, and what upstream has in its place."""
    return f"{registry.name_of(FixupRecord)}/{PATCH_FILE}", f"{registry.name_of(PickRecord)}/{UPSTREAM_FILE}"


def require_run(ledger: Ledger) -> Run:
    """Return the run of a folder as run.json has it.

    Raises:
        PlanError: there is none of this version, or it is too large to be one.
    """
    path = ledger.folder / RUN_FILE
    if path.is_file() and path.stat().st_size > _LARGEST:
        raise PlanError(f"{path}: too large", why=f"it has more than {_LARGEST} bytes", next_step="make the run again")
    run = ledger.load_run()
    if run is None:
        raise PlanError(
            f"{ledger.folder}: no run here",
            why="it has no run.json, or one that is cut or of another version",
            next_step="name a run folder; `backproof show FOLDER` lists those that are there",
        )
    return run


def load_run(files: RunFiles, run: Run, registry: Registry) -> LoadedRun:
    """Read back what the files of a run show now. A record only counts as registered, unaltered evidence."""
    bare = LoadedRun(run=run, registry=registry, folder=files.place)
    read = {kind: _read_record(files, bare, path, kind) for kind, path in record_paths(registry).items()}
    records = {kind: record for kind, record in read.items() if record is not None}
    loaded = replace(bare, records=records, contradictions=find_contradictions(run, records, registry))
    patch, upstream = (_read_patch(files, bare, path) for path in patch_paths(registry))
    altered = frozenset(item.path for item in loaded.evidence if not files.holds(item))
    return replace(loaded, altered=altered, patch=patch, upstream=upstream)


def before_report(run: Run, registry: Registry) -> Run:
    """Return the run without the stages that report it: a report cannot be evidence for itself."""
    kept = tuple(result for result in run.stages if registry.role_of(result.stage) is not StageRole.AFTERWARDS)
    return run.model_copy(update={"stages": kept})


def _is_registered(files: RunFiles, bare: LoadedRun, path: str) -> bool:
    listed = bare.find_file(path)
    return bool(listed) and all(map(files.holds, listed))


def _read_record(files: RunFiles, bare: LoadedRun, path: str, kind: type[Record]) -> Record | None:
    """None as well for a record of another version: its stage makes it again."""
    if not _is_registered(files, bare, path):
        return None
    try:
        return kind.model_validate_json(files.read_bytes(path))
    except (OSError, ValidationError):
        return None


def _read_patch(files: RunFiles, bare: LoadedRun, path: str) -> str:
    registered = _is_registered(files, bare, path)
    return files.read_bytes(path, _PATCH_LIMIT).decode("utf-8", "replace") if registered else ""
