"""Find the first fault on `base` in the device's own logs, and compare it with the plan."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm, Finding, Outcome, Record, StageRole
from backproof.records.proof import StageResult, ValidateRecord
from backproof.records.triage import TriageResult
from backproof.rundir.ledger import sha256_of
from backproof.triage import markdown, triage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.rundir.context import Context

NAME = "triage"
NEEDS: tuple[type[Record], ...] = ()
RECORD = TriageResult
ROLE = StageRole.PROOF
REUSABLE = True

_LOGS = re.compile(r"(?P<name>.+)\.logs\.(?P<number>\d+)")
"""The folders that a device gives to the processes on it; a process that ran again has the highest number."""


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {
        "plan": ctx.plan.triage.model_dump(mode="json") if ctx.plan.triage else None,
        "logs": {str(path): sha256_of(path) for path in _find_files(ctx)},
    }


def run(ctx: Context) -> StageResult:
    if ctx.plan.triage is None:
        return _skip_stage("the plan expects no first fault")
    if not _find_files(ctx):
        return _skip_stage(f"the device {ctx.settings.device} wrote no logs: there is no first fault to compare")
    result = triage(_find_folders(ctx))
    return _make_result(ctx, result)


def _find_folders(ctx: Context) -> list[Path]:
    """Return the newest log folder of each process on `base`."""
    latest: dict[str, tuple[int, Path]] = {}
    for path in (ctx.ledger.folder / ctx.registry.name_of(ValidateRecord) / Arm.BASE.value).glob("*.logs.*"):
        if match := _LOGS.fullmatch(path.name):
            number = int(match["number"])
            latest[match["name"]] = max(latest.get(match["name"], (0, path)), (number, path))
    return sorted(path for _, path in latest.values())


def _find_files(ctx: Context) -> list[Path]:
    paths = (path for folder in _find_folders(ctx) for path in folder.rglob("*"))
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def _skip_stage(why: str) -> StageResult:
    return StageResult(stage=NAME, outcome=Outcome.SKIP, sentence=why)


def _make_result(ctx: Context, result: TriageResult) -> StageResult:
    command = (
        f"backproof triage {' '.join(str(folder.relative_to(ctx.ledger.folder)) for folder in _find_folders(ctx))}"
    )
    evidence = (
        ctx.keep_record(result, claim="what failed first on base", command=command),
        ctx.ledger.write_evidence(
            f"{NAME}/triage.md", markdown.render_markdown(result), claim="the same for people", command=command
        ),
    )
    outcome, sentence = judge_kind(result, kind=ctx.plan.triage.kind if ctx.plan.triage else "")
    where = f"{result.first_fault.file}:{result.first_fault.line}" if result.first_fault else ""
    finding = Finding(severity="note", text=result.verdict, where=where)
    return StageResult(stage=NAME, outcome=outcome, sentence=sentence, evidence=evidence, findings=(finding,))


def judge_kind(result: TriageResult, *, kind: str) -> tuple[Outcome, str]:
    """Pass if base showed the fault of the plan; otherwise the result is inconclusive."""
    if result.first_fault is None:
        return Outcome.INCONCLUSIVE, f"base shows no first fault, the plan expects {kind}: not reproduced"
    if result.first_fault.kind != kind:
        return Outcome.INCONCLUSIVE, f"base failed first with {result.first_fault.kind}, the plan expects {kind}"
    return Outcome.PASS, f"base failed first with {kind}, as the plan expects"
