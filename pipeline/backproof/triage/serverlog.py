"""The server's own log: load and cache over time, health, stalls, and the frames of a stack."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from backproof.core.vllm_statistics import parse_statistics

if TYPE_CHECKING:
    from backproof.core.vllm_statistics import EngineStatistics
    from backproof.triage.line_header import Head
    from backproof.triage.timestamps import Stamp

_FRAME: Final = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>\d+), in (?P<name>\S{1,80})')
_NEEDLES: Final = ("throughput", "startup complete", "Uvicorn", "broadcast block", 'File "', "Error: ")
NEEDLE: Final = rb"throughput: |startup complete|Uvicorn running|broadcast block"

MarkName = Literal["load", "healthy", "stall", "frame", "raised"]
_MARKS: Final[dict[MarkName, re.Pattern[str]]] = {
    "healthy": re.compile(r"Application startup complete|Uvicorn running on|Started server process .* ready"),
    "stall": re.compile(r"No available shared memory broadcast block found in (\d+) seconds"),
    "frame": _FRAME,
    "raised": re.compile(r"^\s*(?P<name>[\w.]*(?:Error|Exception|Interrupt)): (?P<text>.{0,200})"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerMark:
    """An event of the server, or a line of its statistics. `pid` is that of the writer; `time` is on the common clock."""

    name: MarkName
    stamp: Stamp | None
    pid: int | None
    rank: int | None
    text: str
    statistics: EngineStatistics | None = None
    time: int | None = None


def read_mark(head: Head, stamp: Stamp | None) -> ServerMark | None:
    """Read statistics, health, a stall, or a frame of a stack, when this line holds one."""
    text = head.subject
    if not any(needle in text for needle in _NEEDLES):
        return None
    statistics = parse_statistics(text)
    name: MarkName | None = "load" if statistics else _find_mark_name(text)
    if name is None:
        return None
    cut = text.strip()[:300]
    return ServerMark(name=name, stamp=stamp, pid=head.pid, rank=head.rank, text=cut, statistics=statistics)


def _find_mark_name(text: str) -> MarkName | None:
    return next((name for name, pattern in _MARKS.items() if pattern.search(text)), None)


def format_frame(text: str) -> str | None:
    """Return `file:line in function` of a stack line."""
    hit = _FRAME.search(text)
    return f"{hit['file']}:{hit['line']} in {hit['name']}" if hit else None
