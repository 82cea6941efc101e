"""Posts the comment of a run upstream, and keeps what was posted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.records.proof import StageResult
from backproof.records.publish import PublishRecord
from backproof.upstream.publish import Post, send_post

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "publish"
NEEDS: tuple[type[Record], ...] = ()
RECORD = PublishRecord
ROLE = StageRole.AFTERWARDS
REUSABLE = False


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"run": ctx.run.id}


def run(ctx: Context) -> StageResult:
    record = send_post(ctx.read_options(Post))
    marked = f", and the head is marked: {record.check}" if record.check else ""
    claim = f"the comment was {record.action} at {record.url}{marked}"
    evidence = ctx.keep_record(record, claim=claim, command="backproof publish --publish")
    sentence = f"{record.action} {record.url}{marked}"
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=(evidence,))
