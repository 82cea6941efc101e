"""The record of the stage `tally`."""

from __future__ import annotations

from backproof.core.model import Record


class TallyRecord(Record):
    """tally/tally.json."""

    schema_version: int = 1
    commits: int
