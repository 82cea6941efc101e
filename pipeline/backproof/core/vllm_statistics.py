"""The line of statistics that a vLLM engine logs every ten seconds, as numbers."""

from __future__ import annotations

import re
from typing import Final

from pydantic import ValidationError

from backproof.core.model import Record

# vllm/v1/metrics/loggers.py prints it; the name of the cache is the platform's, and versions put other parts in between.
_LINE: Final = re.compile(
    r"Avg prompt throughput: (?P<prompt>[\d.]+) tokens/s, Avg generation throughput: (?P<generation>[\d.]+) tokens/s, "
    r"Running: (?P<running>\d+) reqs?, Waiting: (?P<waiting>\d+) reqs?"
    r"(?:.{0,200}?Preemptions: (?P<preemptions>\d+))?(?:.{0,200}?(?:GPU|NPU) KV cache usage: (?P<cache>[\d.]+)%)?"
)


class EngineStatistics(Record):
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
    try:
        return EngineStatistics.model_validate(match.groupdict())
    except ValidationError:  # digits and dots that make no number: another program's line
        return None
