"""Reads back what a run folder can still show: records that are evidence and have their hash, and what has not.

The verdict and every report are made from this and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from backproof.core.model import Record
from backproof.records.audit import AuditRecord
from backproof.records.experiment import ExperimentsRecord
from backproof.records.host import DoctorRecord
from backproof.records.proof import (
    DeviceInventory,
    FixupRecord,
    InstallRecord,
    PickRecord,
    ValidateRecord,
    VerifyRecord,
)
from backproof.records.serving import ServeRecord
from backproof.records.triage import TriageResult
from backproof.records.upstream_tests import UpstreamRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.core.model import Evidence
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.proof import Case, Claim, Run, StageResult
    from backproof.rundir.ledger import Ledger

R = TypeVar("R", bound=Record)

AFTERWARDS = frozenset({"report", "publish"})
"""Stages that tell of the proof and are no part of it."""
BESIDE = frozenset({"audit", "experiment", "doctor"})
"""What tells of the pull request, of other configurations, of the host: shown, and no part of the proof either."""
PATCH = "fixup/backport.mbox"
UPSTREAM = "pick/upstream.mbox"
_PATCH_LIMIT = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """One run with the records that hold (None: absent, unreadable or altered) and the paths that do not."""

    run: Run
    pick: PickRecord | None = None
    fixup: FixupRecord | None = None
    install: InstallRecord | None = None
    verify: VerifyRecord | None = None
    validate: ValidateRecord | None = None
    inventory: DeviceInventory | None = None
    audit: AuditRecord | None = None
    triage: TriageResult | None = None
    serve: ServeRecord | None = None
    experiment: ExperimentsRecord | None = None
    upstream_tests: UpstreamRecord | None = None
    doctor: DoctorRecord | None = None
    altered: frozenset[str] = frozenset()
    patch: str = ""
    upstream: str = ""
    folder: str = ""

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
        """What the rounds under load amount to."""
        return self.serve.cases if self.serve else ()

    def intact(self, evidence: tuple[Evidence, ...]) -> bool:
        """Whether there is evidence, all of it as recorded."""
        return bool(evidence) and not any(each.path in self.altered for each in evidence)

    def evidence_of(self, stage: str) -> tuple[Evidence, ...]:
        return tuple(each for found in self.stages if found.stage == stage for each in found.evidence)

    def file(self, path: str) -> tuple[Evidence, ...]:
        """The evidence that is this file; () where no stage registered it."""
        return tuple(each for stage in self.stages for each in stage.evidence if each.path == path)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence, once per path; the report's own comes last, so that the numbers in the report hold."""
        once: dict[str, Evidence] = {}
        for each in self._mentions():
            once.setdefault(each.path, each)
        return tuple(once.values())

    def _mentions(self) -> Iterator[Evidence]:
        """The proof first: what is put beside it later must not change a number that was written down."""
        told = AFTERWARDS | BESIDE
        yield from _flattened(each.evidence for each in self.stages if each.stage not in told)
        yield from _flattened(each.evidence for each in self.claims)
        yield from _flattened(each.evidence for each in (*self.cases, *self.served))
        yield from _flattened(each.evidence for each in (self.upstream_tests.arms if self.upstream_tests else ()))
        yield from _flattened(each.evidence for each in self.stages if each.stage in BESIDE)
        yield from _flattened(each.evidence for each in self.experiments)
        yield from _flattened(each.evidence for each in self.stages if each.stage in AFTERWARDS)


def _flattened(groups: Iterable[tuple[Evidence, ...]]) -> Iterator[Evidence]:
    for group in groups:
        yield from group


def read(ledger: Ledger, run: Run) -> Story:
    """The story of a run as its folder shows it now."""
    records: dict[str, Any] = {name: _record(ledger, run, path, kind) for name, (path, kind) in RECORDS.items()}
    story = Story(run=run, **records)
    altered = frozenset(each.path for each in story.evidence if not _holds(ledger, each))
    return replace(
        story,
        altered=altered,
        patch=_patch(ledger, run, PATCH),
        upstream=_patch(ledger, run, UPSTREAM),
        folder=str(ledger.folder),
    )


RECORDS: dict[str, tuple[str, type[Record]]] = {
    "pick": ("pick/pick.json", PickRecord),
    "fixup": ("fixup/fixup.json", FixupRecord),
    "install": ("install/install.json", InstallRecord),
    "verify": ("verify/verify.json", VerifyRecord),
    "validate": ("validate/validate.json", ValidateRecord),
    "inventory": ("validate/inventory.json", DeviceInventory),
    "audit": ("audit/audit.json", AuditRecord),
    "triage": ("triage/triage.json", TriageResult),
    "serve": ("serve/serve.json", ServeRecord),
    "experiment": ("experiment/experiment.json", ExperimentsRecord),
    "upstream_tests": ("upstream-tests/upstream-tests.json", UpstreamRecord),
    "doctor": ("doctor/doctor.json", DoctorRecord),
}
"""The parts of a story: where each record is, and what it is."""


def before_report(run: Run) -> Run:
    """The run without the stages that tell of it: a report cannot be evidence for itself."""
    return run.model_copy(update={"stages": tuple(each for each in run.stages if each.stage not in AFTERWARDS)})


def _record(ledger: Ledger, run: Run, path: str, kind: type[R]) -> R | None:
    """A record only counts when a stage registered it as evidence and it is as it was then."""
    return ledger.read(path, kind) if _registered(ledger, run, path) else None


def _registered(ledger: Ledger, run: Run, path: str) -> bool:
    listed = Story(run=run).file(path)
    return bool(listed) and all(_holds(ledger, each) for each in listed)


def _holds(ledger: Ledger, evidence: Evidence) -> bool:
    """As the ledger's, and the path must not lead out of the run folder: run.json may come from another machine."""
    try:
        inside = (ledger.folder / evidence.path).resolve().is_relative_to(ledger.folder.resolve())
        return inside and ledger.holds(evidence)
    except (OSError, ValueError):
        return False


def _patch(ledger: Ledger, run: Run, path: str) -> str:
    if not _registered(ledger, run, path):
        return ""
    with (ledger.folder / path).open("rb") as stream:
        return stream.read(_PATCH_LIMIT).decode("utf-8", "replace")
