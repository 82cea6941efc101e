"""What the service says of its load: /metrics while it works, else the lines of its log."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import httpx

from backproof.records.serving import Load

if TYPE_CHECKING:
    from pathlib import Path

_EVERY: Final = 0.25
_METRIC: Final = re.compile(r"^vllm:(?P<name>\w+)(?:\{[^}]*\})?\s+(?P<value>[\d.eE+-]+)\s*$", re.MULTILINE)
# vllm/v1/metrics/loggers.py; the name of the cache is the platform's.
_LINE: Final = re.compile(
    rb"Running: (?P<running>\d+) reqs?, Waiting: (?P<waiting>\d+) reqs?"
    rb"(?:.{0,200}?(?:GPU|NPU) KV cache usage: (?P<cache>[\d.]+)%)?"
)
_LIMIT: Final = 4 * 1024 * 1024


def read(text: str) -> Load:
    """One answer of /metrics; several engines are summed, their caches' highest is taken."""
    found: dict[str, list[float]] = {}
    for hit in _METRIC.finditer(text[:_LIMIT]):
        with suppress(ValueError):
            found.setdefault(hit["name"], []).append(float(hit["value"]))
    caches = found.get("kv_cache_usage_perc") or found.get("gpu_cache_usage_perc")
    running, waiting = found.get("num_requests_running"), found.get("num_requests_waiting")
    return Load(
        running=sum(running) if running else None,
        waiting=sum(waiting) if waiting else None,
        # "perc" is a fraction in vLLM, 1 for full.
        cache_percent=round(100 * max(caches), 3) if caches else None,
        source="metrics" if found else "none",
    )


def in_log(log: Path, start: int) -> Load:
    """The highest values of the statistics that the log got since `start`."""
    with suppress(OSError), log.open("rb") as stream:
        stream.seek(start)
        most = Load()
        for hit in _LINE.finditer(stream.read(_LIMIT)):
            cache = float(hit["cache"]) if hit["cache"] else None
            seen = Load(running=float(hit["running"]), waiting=float(hit["waiting"]), cache_percent=cache, source="log")
            most = highest(most, seen)
        return most
    return Load()


def highest(one: Load, other: Load) -> Load:
    return Load(
        running=_max(one.running, other.running),
        waiting=_max(one.waiting, other.waiting),
        cache_percent=_max(one.cache_percent, other.cache_percent),
        source=other.source if other.source != "none" else one.source,
    )


def _max(one: float | None, other: float | None) -> float | None:
    return max((each for each in (one, other) if each is not None), default=None)


class Watch:
    """Looks at /metrics again and again and keeps the highest values; a service without it is left alone."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.most = Load()

    async def go_on(self) -> None:
        async with httpx.AsyncClient(timeout=5, trust_env=False) as client:
            while await self._look(client):  # noqa: ASYNC110 - a rhythm, not an event that somebody could set
                await asyncio.sleep(_EVERY)

    async def _look(self, client: httpx.AsyncClient) -> bool:
        try:
            answer = await client.get(f"{self.url}/metrics")
        except httpx.HTTPError:
            return True  # busy or dying: the requests tell which
        if answer.status_code != httpx.codes.OK:
            return False
        self.most = highest(self.most, read(answer.text))
        return True
