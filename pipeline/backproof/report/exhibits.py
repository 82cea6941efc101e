"""The evidence files of a page: each in one place, with its beginning and end for a reader who does not have the run folder."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

    from backproof.core.model import Evidence
    from backproof.report.view import RunView

_HEAD = 600
_TAIL = 1000
_ESCAPED = re.compile(r"\\u(00[0189][0-9a-f])")
"""A control character as JSON writes it: whoever masks secrets must see what a reader would, and not half of it."""
# A cut falls on the end of a line or, in one long line, of a word: nobody masks half a path, or half a secret.
_CUT_END = re.compile(rb"(?<=\n)[^\n]*\Z|(?<![^\s\"',])[^\s\"',]*\Z")
_CUT_START = re.compile(rb"\A[^\n]*\n(?=.)|\A[^\s\"',]*", re.DOTALL)
NOT_TEXT = "(not text)"
_EXCERPTS = 400
_SHOWN = 2000


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """One evidence file as it is shown; no excerpt of what does not hold."""

    number: int
    evidence: Evidence
    holds: bool
    excerpt: str


class Exhibits:
    """Hands each evidence file out once: whatever else rests on it refers to it by number."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._left = {item.path: number for number, item in enumerate(view.run.evidence[:_SHOWN], 1)}

    def take(self, evidence: tuple[Evidence, ...]) -> tuple[Exhibit, ...]:
        """Return those that were not handed out yet."""
        rest = [item for item in dict.fromkeys(evidence) if item.path in self._left]
        return tuple(self._show(item, self._left.pop(item.path)) for item in rest)

    def _show(self, evidence: Evidence, number: int) -> Exhibit:
        holds, folder = self._view.holds((evidence,)), self._view.loaded.folder
        text = read_excerpt(folder, evidence.path) if holds and number <= _EXCERPTS and folder else ""
        return Exhibit(number=number, evidence=evidence, holds=holds, excerpt=text)


def read_excerpt(folder: str, path: str) -> str:
    """Return the file whole when it is short, else its first and last part: a log says what went wrong at its end.

    The path must be that of evidence that holds: then it is known to lie inside the folder.
    """
    try:
        with (Path(folder) / path).open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            is_short = size <= _HEAD + _TAIL
            head = stream.read() if is_short else _CUT_END.sub(b"", stream.read(_HEAD))
            tail = b"" if is_short else _read_end(stream, size)
    except OSError:
        return ""
    if b"\0" in head:
        return NOT_TEXT
    note = f"\n… {size - len(head) - len(tail)} bytes not shown …\n" if tail else ""
    text = head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _read_end(stream: BinaryIO, size: int) -> bytes:
    stream.seek(size - _TAIL)
    return _CUT_START.sub(b"", stream.read(_TAIL))
