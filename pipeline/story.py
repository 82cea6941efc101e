"""Reads back what a run folder can still show: records that are evidence and have their hash, and what has not.

The verdict and every report are made from this and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pipeline.basis import AFTERWARDS
from pipeline.model import Record
from pipeline.records import (
    DeviceInventory,
    FixupRecord,
    InstallRecord,
    PickRecord,
    ValidateRecord,
    VerifyRecord,
)
from pipeline.verdict import evidence_of, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.ledger import Ledger
    from pipeline.model import Evidence
    from pipeline.records import Run

R = TypeVar("R", bound=Record)

FILES = ("comment.md", "report.html", "junit.xml")
"""What the report stage writes, beside run.json."""
PATCH = "fixup/backport.mbox"
_PATCH_LIMIT = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Story:
    """One run, its verdict filled in, with the records that hold (None: absent, unreadable or altered)."""

    run: Run
    pick: PickRecord | None
    fixup: FixupRecord | None
    install: InstallRecord | None
    verify: VerifyRecord | None
    validate: ValidateRecord | None
    inventory: DeviceInventory | None
    altered: frozenset[str]
    patch: str = ""

    def evidence_of_stage(self, name: str) -> tuple[Evidence, ...]:
        return tuple(each for stage in self.run.stages if stage.stage == name for each in stage.evidence)

    def record_of(self, name: str, file: str = "") -> tuple[Evidence, ...]:
        """The evidence that is the stage's own record."""
        path = f"{name}/{file or f'{name}.json'}"
        return tuple(each for each in self.evidence_of_stage(name) if each.path == path)

    def holding(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        return tuple(each for each in evidence if each.path not in self.altered)


def read(ledger: Ledger, run: Run) -> Story:
    """The story of a run as the folder shows it now."""
    pick = _record(ledger, run, "pick/pick.json", PickRecord)
    fixup = _record(ledger, run, "fixup/fixup.json", FixupRecord)
    verify = _record(ledger, run, "verify/verify.json", VerifyRecord)
    validate = _record(ledger, run, "validate/validate.json", ValidateRecord)
    inventory = _record(ledger, run, "validate/inventory.json", DeviceInventory)
    all_evidence = evidence_of(run.stages, verify=verify, validate=validate)
    altered = frozenset(each.path for each in all_evidence if not _holds(ledger, each))
    return Story(
        run=summarise(
            run, pick=pick, fixup=fixup, verify=verify, validate=validate, altered=altered, inventory=inventory
        ),
        pick=pick,
        fixup=fixup,
        install=_record(ledger, run, "install/install.json", InstallRecord),
        verify=verify,
        validate=validate,
        inventory=inventory,
        altered=altered,
        patch=_patch(ledger, run),
    )


def conclude(ledger: Ledger, run: Run) -> Run:
    """The run as run.json should have it: verdict and evidence from what the folder shows, files that are there."""
    reported = any(each.stage == "report" for each in run.stages)
    files = {name: name for name in FILES if reported and (ledger.folder / name).is_file()}
    return read(ledger, run).run.model_copy(update={"files": files})


def before_report(run: Run) -> Run:
    """The run without the stages that tell of it: a report cannot be evidence for itself."""
    return run.model_copy(update={"stages": tuple(each for each in run.stages if each.stage not in AFTERWARDS)})


def _record(ledger: Ledger, run: Run, path: str, kind: type[R]) -> R | None:
    """A record only counts when a stage registered it as evidence and it is as it was then."""
    listed = [each for stage in run.stages for each in stage.evidence if each.path == path]
    return ledger.read(path, kind) if listed and all(_holds(ledger, each) for each in listed) else None


def _holds(ledger: Ledger, evidence: Evidence) -> bool:
    """As the ledger's, and the path must not lead out of the run folder: run.json may come from another machine."""
    try:
        inside = (ledger.folder / evidence.path).resolve().is_relative_to(ledger.folder.resolve())
        return inside and ledger.holds(evidence)
    except (OSError, ValueError):
        return False


def _patch(ledger: Ledger, run: Run) -> str:
    listed = [each for stage in run.stages for each in stage.evidence if each.path == PATCH]
    if not listed or not all(_holds(ledger, each) for each in listed):
        return ""
    with (ledger.folder / PATCH).open("rb") as stream:
        return stream.read(_PATCH_LIMIT).decode("utf-8", "replace")
