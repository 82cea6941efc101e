"""What a test raised, as the target describes it."""

from __future__ import annotations

from backproof.core.model import Record


class Raised(Record):
    """One exception: its class and those that it derives from, the line that raised it, and its message.

    `frames` are the file and line of each call that led there, the last ones if there are many, the innermost last.
    """

    classes: tuple[str, ...]
    file: str = ""
    line: int = 0
    text: str = ""
    frames: tuple[tuple[str, int], ...] = ()
