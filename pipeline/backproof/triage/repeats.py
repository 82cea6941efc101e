"""Lines that come again and again: told apart without their times and numbers, then only counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_DIGITS: Final = str.maketrans("0123456789", "##########")


@dataclass(slots=True, kw_only=True)
class RepeatedLine:
    """A line without its time, and how often it came again after enough of its rule were kept."""

    rule: int
    pid: int | None
    shape: str
    enough: bool = False
    again: int = 0
    raw: bytes = b""
    offset: int = 0
    line: int = 0

    def count_again(self, raw: bytes, offset: int, line: int) -> None:
        """Count the line once more, and keep its last occurrence."""
        self.again += 1
        self.raw, self.offset, self.line = raw, offset, line


def strip_time(raw: bytes) -> bytes:
    """Return a plog record without its stamp of 27 characters and a blank; empty for anything else."""
    at = raw.find(b"):2", 0, 64)
    return raw[:at] + raw[at + 29 :] if at > 0 else b""


def make_shape(subject: str) -> str:
    """Return a record without its numbers."""
    return subject[:160].translate(_DIGITS)
