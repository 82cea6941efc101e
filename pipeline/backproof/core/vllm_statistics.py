"""The line of statistics that a vLLM engine logs every ten seconds, as numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# vllm/v1/metrics/loggers.py prints it; the name of the cache is the platform's, and versions put other parts in between.
_LINE: Final = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, Avg generation throughput: (?P<generation>[\d.]+) tokens/s, "
    r"Running: (?P<running>\d+) reqs?, Waiting: (?P<waiting>\d+) reqs?"
    r"(?:.{0,200}?Preemptions: (?P<preemptions>\d+))?(?:.{0,200}?(?:GPU|NPU) KV cache usage: (?P<cache>[\d.]+)%)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatistics:
    """One line. Throughput is in tokens per second, the cache's usage in percent; None is what the line leaves out."""

    prompt: float
    generation: float
    running: int
    waiting: int
    preemptions: int | None
    cache: float | None


def parse_statistics(line: str) -> EngineStatistics | None:
    """Return the numbers of a line of statistics, None for any other line."""
    match = _LINE.search(line) if "throughput" in line else None
    if match is None:
        return None
    parts = match.groupdict()
    try:
        return EngineStatistics(
            prompt=float(parts["prompt"]),
            generation=float(parts["generation"]),
            running=int(parts["running"]),
            waiting=int(parts["waiting"]),
            preemptions=int(parts["preemptions"]) if parts["preemptions"] else None,
            cache=float(parts["cache"]) if parts["cache"] else None,
        )
    except ValueError:  # digits and dots that make no number: another program's line
        return None
