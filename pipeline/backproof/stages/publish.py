"""Posts the comment of a run upstream, and keeps what was posted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.records.proof import StageResult
from backproof.records.publish import PublishRecord
from backproof.upstream.publish import post_comment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.github import GitHubClient
    from backproof.rundir.context import Context
    from backproof.upstream.publish import Prepared

NAME = "publish"
NEEDS: tuple[type[Record], ...] = ()
RECORD = PublishRecord
ROLE = StageRole.AFTERWARDS
REUSABLE = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PublishOptions:
    """What was prepared, and who posts it."""

    client: GitHubClient
    prepared: Prepared


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"run": ctx.run.id}


def run(ctx: Context) -> StageResult:
    options = ctx.read_options(PublishOptions)
    record = post_comment(options.client, options.prepared)
    claim = f"the comment was {record.action} at {record.url}"
    evidence = ctx.keep_record(record, claim=claim, command="backproof publish --publish")
    sentence = f"{record.action} {record.url}"
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=(evidence,))
