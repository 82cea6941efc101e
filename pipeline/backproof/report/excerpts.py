"""The beginning and the end of an evidence file, for a reader who does not have the run folder at hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import BinaryIO

_HEAD = 600
_TAIL = 1000
_ESCAPED = re.compile(r"\\u(00[0189][0-9a-f])")
"""A control character as JSON writes it: whoever masks secrets must see what a reader would, and not half of it."""
# A cut falls on the end of a line or, in one long line, of a word: nobody masks half a path, or half a secret.
_CUT_END = re.compile(rb"(?<=\n)[^\n]*\Z|(?<![^\s\"',])[^\s\"',]*\Z")
_CUT_START = re.compile(rb"\A[^\n]*\n(?=.)|\A[^\s\"',]*", re.DOTALL)
NOT_TEXT = "(not text)"


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
