"""Keeps what a pull request was asked for and claims beside the run that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.core.plural import format_count
from backproof.records.audit import AuditRecord
from backproof.records.proof import StageResult
from backproof.upstream.audit import examine_pull

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.github import GitHubClient
    from backproof.rundir.context import Context
    from backproof.upstream.audit import Subject

NAME = "audit"
NEEDS: tuple[type[Record], ...] = ()
RECORD = AuditRecord
ROLE = StageRole.BESIDE
REUSABLE = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditOptions:
    """The pull request to examine, and what the command line called it."""

    client: GitHubClient
    subject: Subject
    named: str


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"subject": ctx.read_options(AuditOptions).named}


def run(ctx: Context) -> StageResult:
    options = ctx.read_options(AuditOptions)
    record = examine_pull(options.client, options.subject)
    claim = f"what {record.repo}#{record.pull} was asked for and claims, at {record.head[:12]}"
    evidence = ctx.keep_record(record, claim=claim, command=f"backproof audit {options.named}")
    parts = {"request": record.requests, "claim": record.claims, "finding": record.findings}
    sentence = ", ".join(format_count(len(items), name) for name, items in parts.items())
    return StageResult(
        stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=(evidence,), findings=record.findings
    )
