"""A number of the Ascend stack, decoded."""

from __future__ import annotations

from backproof.core.model import Record


class Code(Record):
    """A number that was seen, with its meaning when the table has one."""

    table: str
    code: str
    meaning: str
    source: str
