"""What an audit of a pull request leaves in the run folder, as frozen data. No I/O."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Finding, Record, StageRecord
from backproof.records.proof import OtherCommit  # noqa: TC001 - pydantic reads it


class ReviewRequest(Record):
    """One thing that a reviewer asked for, and whether the code has it."""

    url: str
    author: str
    path: str = ""
    lines: str = Field(default="", description="as the diff counted them then, for example 14-16")
    kind: Literal["suggestion", "named-code", "prose"] = "prose"
    resolved: bool = False
    quote: str
    code: str = Field(default="", description="what the request would put there")
    in_head: Literal["exactly", "after-formatting", "no", "for-a-person"] = "for-a-person"
    in_run: Literal["exactly", "after-formatting", "no", "for-a-person", "not-looked-at"] = "not-looked-at"
    closed_by: str = Field(default="", description="the kit's fix-up that does what was asked")


class ClaimAnswer(Record):
    """What a run says of a claim."""

    says: Literal["confirms", "contradicts", "does-not-cover"]
    why: str


class ValidationClaim(Record):
    """A sentence of the pull request about what was run."""

    kinds: tuple[Literal["not-run", "ci-only", "device", "numbers", "ran"], ...]
    quote: str
    inherited: bool = Field(description="the original pull request says the same: it was not measured on this branch")
    answer: ClaimAnswer | None = Field(default=None, description="what the run that the audit was made with says of it")


class LaterChange(Record):
    """A pull request that names this one or its original."""

    number: int
    title: str
    url: str
    kind: Literal["revert", "follow-up", "mention"]
    merged: bool


class CheckState(Record):
    """A check of the head that did not succeed."""

    name: str
    state: str


class AuditRecord(StageRecord):
    """audit/audit.json: what the pull request claims and was asked for, beside what its head and this run contain."""

    schema_version: Literal[1] = 1
    repo: str
    pull: int
    title: str
    head: str
    requests: tuple[ReviewRequest, ...] = ()
    claims: tuple[ValidationClaim, ...] = ()
    cancelled: tuple[OtherCommit, ...] = ()
    checks: tuple[CheckState, ...] = ()
    checks_succeeded: int = 0
    later: tuple[LaterChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    limits: tuple[str, ...] = Field(default=(), description="what could not be looked at, and why")
