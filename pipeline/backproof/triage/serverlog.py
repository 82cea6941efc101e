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

_HEALTHY: Final = re.compile(r"Application startup complete|Uvicorn running on|Started server process .* ready")
_STALL: Final = re.compile(r"No available shared memory broadcast block found in (\d+) seconds")
_FRAME: Final = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>\d+), in (?P<name>\S{1,80})')
_RAISED: Final = re.compile(r"^\s*(?P<name>[\w.]*(?:Error|Exception|Interrupt)): (?P<text>.{0,200})")
_NEEDLES: Final = ("throughput", "startup complete", "Uvicorn", "broadcast block", 'File "', "Error: ")
NEEDLE: Final = rb"throughput: |startup complete|Uvicorn running|broadcast block"

MarkName = Literal["healthy", "stall", "frame", "raised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSample:
    """One line of the engine's statistics."""

    stamp: Stamp | None
    statistics: EngineStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerMark:
    """An event of the server. `pid` is that of the writer."""

    name: MarkName
    stamp: Stamp | None
    offset: int
    pid: int | None
    rank: int | None
    text: str


def read_load(head: Head, stamp: Stamp | None) -> LoadSample | None:
    """Read the engine's statistics, when this line holds them."""
    statistics = parse_statistics(head.subject)
    return None if statistics is None else LoadSample(stamp=stamp, statistics=statistics)


def read_mark(head: Head, stamp: Stamp | None, offset: int) -> ServerMark | None:
    """Read health, a stall, or a frame of a stack, when this line holds one."""
    text = head.subject
    if not any(needle in text for needle in _NEEDLES):
        return None
    name = _find_mark_name(text)
    if name is None:
        return None
    return ServerMark(name=name, stamp=stamp, offset=offset, pid=head.pid, rank=head.rank, text=text.strip()[:300])


def _find_mark_name(text: str) -> MarkName | None:
    for name, pattern in _MARKS.items():
        if pattern.search(text):
            return name
    return None


def format_frame(text: str) -> str | None:
    """Return `file:line in function` of a stack line."""
    hit = _FRAME.search(text)
    return f"{hit['file']}:{hit['line']} in {hit['name']}" if hit else None


_MARKS: Final[dict[MarkName, re.Pattern[str]]] = {
    "healthy": _HEALTHY,
    "stall": _STALL,
    "frame": _FRAME,
    "raised": _RAISED,
}
