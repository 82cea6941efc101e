"""Keeps how this host differs from the validated one beside the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.core.redaction import redact_json
from backproof.host.baseline import compare_host
from backproof.host.versions import read_versions
from backproof.records.host import DoctorRecord
from backproof.records.proof import StageResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "doctor"
NEEDS: tuple[type[Record], ...] = ()
RECORD = DoctorRecord
ROLE = StageRole.BESIDE
REUSABLE = False


@dataclass(frozen=True, kw_only=True, slots=True)
class DoctorOptions:
    """The target's interpreter, and the launch arguments of its service."""

    python: Path | None = None
    arguments: tuple[str, ...] = ()


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"baseline": ctx.plan.baseline.model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    options = ctx.read_options(DoctorOptions)
    versions = read_versions(options.python or Path(ctx.settings.python))
    record = compare_host(ctx.plan.baseline, versions.readings, options.arguments)
    # An environment variable may hold a secret, and the file is for others to read.
    rows = tuple(
        row.model_copy(update={"found": None if row.found is None else redact_json([row.name, row.found])[1]})
        for row in record.deviations
    )
    claim = "this host beside what the release was validated with"
    command = f"backproof host doctor --run {ctx.ledger.folder}"
    evidence = ctx.keep_record(record.model_copy(update={"deviations": rows}), claim=claim, command=command)
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=record.sentence, evidence=(evidence,))
