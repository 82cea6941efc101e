"""What a comparison of a host with the validated baseline says, as frozen data. No I/O."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Record

Verdict = Literal["same", "newer", "older", "different", "missing", "extra", "not read"]


class Reading(Record):
    """A version that was read, or why not."""

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


class DoctorRecord(Record):
    """doctor/doctor.json: a host beside the plan's baseline, equal rows too."""

    schema_version: Literal[1] = 1
    at: str = Field(description="when it was looked at (UTC, ISO 8601)")
    host: str
    boot_id: str
    deviations: tuple[Deviation, ...]
    unread: tuple[Reading, ...] = Field(default=(), description="what could not be read, and why")

    @property
    def sentence(self) -> str:
        rows = [each for each in self.deviations if each.verdict != "extra"]
        if not rows:
            return "the baseline names nothing to compare"
        unread = sum(each.verdict == "not read" for each in rows)
        off = sum(each.verdict not in {"same", "not read"} for each in rows)
        return f"{len(rows)} compared with the baseline: {off} deviate{'s' if off == 1 else ''}, {unread} not read; a deviation is not a cause"
