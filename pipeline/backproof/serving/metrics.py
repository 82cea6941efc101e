"""The load that the service reports: /metrics while it works, else the statistics in its log."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import httpx

from backproof.core.vllm_statistics import parse_statistics
from backproof.records.serving import Load

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_EVERY: Final = 0.25
_CACHE: Final = "vllm:kv_cache_usage_perc"
_OLD_CACHE: Final = "vllm:gpu_cache_usage_perc"
_NAMES: Final = ("vllm:num_requests_running", "vllm:num_requests_waiting", _CACHE, _OLD_CACHE)
_LIMIT: Final = 4 * 1024 * 1024
_LONGEST: Final = 4096
"""Characters of one line: the parser copies the rest of a line for each label."""


def parse_metrics(text: str) -> Load:
    """Return the load in one answer of /metrics; several engines are summed, their caches' highest is taken."""
    values = _find_values(text)
    running, waiting = (values.get(name) for name in _NAMES[:2])
    caches = values.get(_CACHE) or values.get(_OLD_CACHE)
    return Load(
        running=sum(running) if running else None,
        waiting=sum(waiting) if waiting else None,
        # "perc" is a fraction in vLLM, 1 for full.
        cache_percent=round(100 * max(caches), 3) if caches else None,
        source="metrics" if values else "none",
    )


def _find_values(text: str) -> dict[str, list[float]]:
    """Return the values of each name, line by line: the parser gives up at the first line that it cannot read."""
    # The package starts with its HTTP server: 50 ms that only a served model is worth.
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415

    values = defaultdict(list)
    for line in text.splitlines():
        if line.startswith(_NAMES) and len(line) <= _LONGEST:
            with suppress(ValueError, IndexError, OverflowError):
                for sample in (sample for family in text_string_to_metric_families(line) for sample in family.samples):
                    if sample.name in _NAMES and math.isfinite(sample.value):
                        values[sample.name].append(float(sample.value))
    return values


def read_log_load(log: Path, start: int) -> Load:
    """Return the highest values of the statistics that the log got since `start`."""
    lines: list[str] = []
    with suppress(OSError), log.open("rb") as stream:
        stream.seek(start)
        lines = stream.read(_LIMIT).decode("utf-8", "replace").splitlines()
    return take_highest(
        Load(running=seen.running, waiting=seen.waiting, cache_percent=seen.cache, source="log")
        for seen in map(parse_statistics, lines)
        if seen
    )


def take_highest(loads: Iterable[Load]) -> Load:
    """Return the highest values of all, from the last source that told any."""
    answered = [load for load in loads if load.source != "none"]
    names = ("running", "waiting", "cache_percent")
    values = {name: [value for load in answered if (value := getattr(load, name)) is not None] for name in names}
    highest = {name: max(numbers, default=None) for name, numbers in values.items()}
    return Load.model_validate({**highest, "source": answered[-1].source if answered else "none"})


async def watch_metrics(url: str, loads: list[Load]) -> None:
    """Look at /metrics again and again, and add what it tells; stop at a service that has none."""
    async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
        while True:
            # A service that does not answer is busy or dying: the requests tell which.
            with suppress(httpx.HTTPError):
                async with client.stream("GET", f"{url}/metrics") as response:
                    if response.status_code != httpx.codes.OK:
                        return
                    loads.append(parse_metrics(await read_body(response)))
            await asyncio.sleep(_EVERY)


async def read_body(response: httpx.Response) -> str:
    """Return the body as text; one that is too long is cut behind its last whole line."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _LIMIT:
            return body[:_LIMIT].rpartition(b"\n")[0].decode("utf-8", "replace")
    return body.decode("utf-8", "replace")
