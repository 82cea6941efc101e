"""What the server said about itself: load and cache over time, health, stalls, and where the stack stopped."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from backproof.triage.line_header import Head
    from backproof.triage.timestamps import Stamp

# vllm/v1/metrics/loggers.py prints this line every ten seconds.
_LOAD: Final = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, Avg generation throughput: (?P<generation>[\d.]+) tokens/s, "
    r"Running: (?P<running>\d+) reqs, Waiting: (?P<waiting>\d+) reqs"
    r"(?:, Preemptions: (?P<preemptions>\d+))?(?:, (?:GPU|NPU) KV cache usage: (?P<cache>[\d.]+)%)?"
    r"(?:, Prefix cache hit rate: (?P<hits>[\d.]+)%)?"
)
_HEALTHY: Final = re.compile(r"Application startup complete|Uvicorn running on|Started server process .* ready")
_STALL: Final = re.compile(r"No available shared memory broadcast block found in (\d+) seconds")
_FRAME: Final = re.compile(r'File "(?P<file>[^"]{1,200})", line (?P<line>\d+), in (?P<name>\S{1,80})')
_RAISED: Final = re.compile(r"^\s*(?P<name>[\w.]*(?:Error|Exception|Interrupt)): (?P<text>.{0,200})")
_NEEDLES: Final = ("throughput", "startup complete", "Uvicorn", "broadcast block", 'File "', "Error: ")
NEEDLE: Final = rb"throughput: |startup complete|Uvicorn running|broadcast block"

MarkName = Literal["healthy", "stall", "frame", "raised"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """One line of the engine's statistics. Percentages are 0 to 100."""

    stamp: Stamp | None
    prompt: float
    generation: float
    running: int
    waiting: int
    preemptions: int | None
    cache: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event of the server. `pid` is that of the writer."""

    name: MarkName
    stamp: Stamp | None
    offset: int
    pid: int | None
    rank: int | None
    text: str


def load(head: Head, stamp: Stamp | None) -> Load | None:
    """The engine's statistics, when this line holds them."""
    hit = _LOAD.search(head.subject) if "throughput" in head.subject else None
    if hit is None:
        return None
    part = hit.groupdict()
    try:
        return Load(
            stamp=stamp,
            prompt=float(part["prompt"]),
            generation=float(part["generation"]),
            running=int(part["running"]),
            waiting=int(part["waiting"]),
            preemptions=int(part["preemptions"]) if part["preemptions"] else None,
            cache=float(part["cache"]) if part["cache"] else None,
        )
    except ValueError:  # digits and dots that make no number: somebody else's line
        return None


def mark(head: Head, stamp: Stamp | None, offset: int) -> Mark | None:
    """Health, a stall, or a frame of a stack, when this line holds one."""
    text = head.subject
    if not any(needle in text for needle in _NEEDLES):
        return None
    name = _name(text)
    if name is None:
        return None
    return Mark(name=name, stamp=stamp, offset=offset, pid=head.pid, rank=head.rank, text=text.strip()[:300])


def _name(text: str) -> MarkName | None:
    for name, pattern in _MARKS.items():
        if pattern.search(text):
            return name
    return None


def frame(text: str) -> str | None:
    """`file:line in function` of a stack line."""
    hit = _FRAME.search(text)
    return f"{hit['file']}:{hit['line']} in {hit['name']}" if hit else None


_MARKS: Final[dict[MarkName, re.Pattern[str]]] = {
    "healthy": _HEALTHY,
    "stall": _STALL,
    "frame": _FRAME,
    "raised": _RAISED,
}
