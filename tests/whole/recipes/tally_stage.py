"""Counts the commits that were picked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.records.proof import PickRecord, StageResult
from backproof.records.tally import TallyRecord  # type: ignore[import-untyped] # there in the copy of the checkout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "tally"
NEEDS: tuple[type[Record], ...] = (PickRecord,)
RECORD = TallyRecord
ROLE = StageRole.BESIDE
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"picked": ctx.require_record(PickRecord).model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    record = TallyRecord(commits=len(ctx.require_record(PickRecord).commits))
    evidence = ctx.keep_record(record, claim="how many commits were picked", command="backproof run")
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=f"{record.commits} picked", evidence=(evidence,))
