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
NOT_TEXT = "(not text)"


def read_excerpt(folder: str, path: str) -> str:
    """Return the file whole when it is short, else its first and last part: a log says what went wrong at its end.

    The path must be that of evidence that holds: then it is known to lie inside the folder.
    """
    try:
        with (Path(folder) / path).open("rb") as stream:
            size = stream.seek(0, 2)
            stream.seek(0)
            head = stream.read(_HEAD + _TAIL if size <= _HEAD + _TAIL else _HEAD)
            tail = b"" if size <= _HEAD + _TAIL else _read_last_lines(stream, size)
    except OSError:
        return ""
    if b"\0" in head:
        return NOT_TEXT
    note = f"\n… {size - len(head) - len(tail)} bytes not shown …\n" if tail else ""
    text = head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace")
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


def _read_last_lines(stream: BinaryIO, size: int) -> bytes:
    """Return the end, from the first whole line on where there is one."""
    stream.seek(size - _TAIL)
    text = stream.read(_TAIL)
    _, newline, rest = text.partition(b"\n")
    return rest if newline and rest else text
