"""The comparison of a host with the validated baseline, as frozen data. No I/O."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Record, StageRecord

Verdict = Literal["same", "newer", "older", "different", "missing", "extra", "not read"]


class Reading(Record):
    """A version that was read, or the reason why it was not."""

    name: str
    value: str | None
    source: str = ""
    why: str = ""


class Deviation(Record):
    """One row of the comparison. A deviation is not a cause."""

    subject: Literal["version", "argument", "environment"]
    name: str
    expected: str | None
    found: str | None
    verdict: Verdict
    note: str = ""


class DoctorRecord(StageRecord):
    """doctor/doctor.json: a host beside the plan's baseline, equal rows too."""

    schema_version: Literal[1] = 1
    at: str = Field(description="when it was looked at (UTC, ISO 8601)")
    host: str
    boot_id: str
    deviations: tuple[Deviation, ...]
    unread: tuple[Reading, ...] = Field(default=(), description="what could not be read, and why")

    @property
    def sentence(self) -> str:
        rows = [row for row in self.deviations if row.verdict != "extra"]
        if not rows:
            return "the baseline names nothing to compare"
        unread = sum(row.verdict == "not read" for row in rows)
        off = sum(row.verdict not in {"same", "not read"} for row in rows)
        deviate = "deviates" if off == 1 else "deviate"
        return f"{len(rows)} compared with the baseline: {off} {deviate}, {unread} not read; a deviation is not a cause"
