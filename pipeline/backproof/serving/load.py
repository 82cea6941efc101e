"""Many requests at once: so many clients, each with one request in flight; after the first failure no more are sent."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backproof.records.serving import Load
from backproof.serving import client as http
from backproof.serving.metrics import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import httpx

    from backproof.serving.client import Ask, Reply

_EVERY: Final = 10.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wave:
    """What one step got."""

    replies: tuple[Reply, ...]
    seconds: float
    load: Load
    unsent: int


@dataclass(kw_only=True, slots=True)
class _State:
    say: Callable[[str], None]
    total: int
    started: float = field(default_factory=time.monotonic)
    told: float = field(default_factory=time.monotonic)
    replies: list[Reply] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        return any(not each.ok for each in self.replies)

    def add(self, reply: Reply) -> None:
        self.replies.append(reply)
        now = time.monotonic()
        if now - self.told > _EVERY:
            self.told = now
            tokens = sum(each.count for each in self.replies) / (now - self.started)
            bad = sum(not each.ok for each in self.replies)
            self.say(f"      {len(self.replies)} of {self.total} requests, {bad} failed, {tokens:.1f} tokens/s")


def send(
    asks: Sequence[Ask], *, concurrency: int, total: int, stall: float, say: Callable[[str], None], watch: bool = True
) -> Wave:
    """Send `total` requests, the prompts in turn, at most `concurrency` at a time."""
    return asyncio.run(_send(asks, concurrency, total, stall, _State(say=say, total=total), watch=watch))


async def _send(asks: Sequence[Ask], concurrency: int, total: int, stall: float, state: _State, *, watch: bool) -> Wave:
    numbers = iter(range(total))
    async with http.opened(stall) as client:
        watching = Watch(asks[0].url) if watch else None
        task = asyncio.create_task(watching.go_on()) if watching else None
        await asyncio.gather(*(_client(client, asks, numbers, state) for _ in range(concurrency)))
        if task:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    return Wave(
        replies=tuple(state.replies),
        seconds=time.monotonic() - state.started,
        load=watching.most if watching else Load(),
        unsent=total - len(state.replies),
    )


async def _client(client: httpx.AsyncClient, asks: Sequence[Ask], numbers: Iterator[int], state: _State) -> None:
    # Not one request more after a failure: what follows only writes over the first scene (post-mortem 7.1).
    while not state.broken and (number := next(numbers, None)) is not None:
        which = number % len(asks)
        state.add(await http.complete(client, asks[which], which))
