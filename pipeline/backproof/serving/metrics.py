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
    most = Load()
    with suppress(OSError), log.open("rb") as stream:
        stream.seek(start)
        for line in stream.read(_LIMIT).decode("utf-8", "replace").splitlines():
            if seen := parse_statistics(line):
                load = Load(running=seen.running, waiting=seen.waiting, cache_percent=seen.cache, source="log")
                most = take_highest(most, load)
    return most


def take_highest(left: Load, right: Load) -> Load:
    return Load(
        running=_highest(left.running, right.running),
        waiting=_highest(left.waiting, right.waiting),
        cache_percent=_highest(left.cache_percent, right.cache_percent),
        source=right.source if right.source != "none" else left.source,
    )


def _highest(*values: float | None) -> float | None:
    return max((value for value in values if value is not None), default=None)


class MetricsWatch:
    """Looks at /metrics again and again and remembers the highest values; stops at a service that has none."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.most = Load()

    async def poll(self) -> None:
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            while await self._look_once(client):  # noqa: ASYNC110 - a rhythm, not an event that somebody could set
                await asyncio.sleep(_EVERY)

    async def _look_once(self, client: httpx.AsyncClient) -> bool:
        try:
            async with client.stream("GET", f"{self.url}/metrics") as response:
                if response.status_code != httpx.codes.OK:
                    return False
                text = await read_body(response)
        except httpx.HTTPError:
            return True  # busy or dying: the requests tell which
        self.most = take_highest(self.most, parse_metrics(text))
        return True


async def read_body(response: httpx.Response) -> str:
    """Return the body as text; one that is too long is cut behind its last whole line."""
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > _LIMIT:
            return body[:_LIMIT].rpartition(b"\n")[0].decode("utf-8", "replace")
    return body.decode("utf-8", "replace")
