"""Many requests at once: so many clients, each with one request in flight; after the first failure no more are sent."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from backproof.serving.client import open_client, send_request
from backproof.serving.metrics import take_highest, watch_metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import httpx

    from backproof.records.serving import Load
    from backproof.serving.client import CompletionRequest, Reply

_EVERY: Final = 10.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """The replies of one step."""

    replies: tuple[Reply, ...]
    seconds: float
    load: Load
    unsent: int


@dataclass(kw_only=True, slots=True)
class _Replies:
    """The replies so far, and when progress was last reported."""

    say: Callable[[str], None]
    total: int
    started: float = field(default_factory=time.monotonic)
    reported: float = field(default_factory=time.monotonic)
    received: list[Reply] = field(default_factory=list)

    @property
    def broken(self) -> bool:
        return any(not reply.ok for reply in self.received)

    def add_reply(self, reply: Reply) -> None:
        self.received.append(reply)
        now = time.monotonic()
        if now - self.reported > _EVERY:
            self.reported = now
            tokens = sum(reply.count for reply in self.received) / (now - self.started)
            bad = sum(not reply.ok for reply in self.received)
            self.say(f"      {len(self.received)} of {self.total} requests, {bad} failed, {tokens:.1f} tokens/s")


def send_batch(
    requests: Sequence[CompletionRequest],
    *,
    concurrency: int,
    total: int,
    stall: float,
    say: Callable[[str], None],
) -> Batch:
    """Send `total` requests, the prompts in turn, at most `concurrency` at a time."""
    return asyncio.run(_send_all(requests, concurrency, stall, _Replies(say=say, total=total)))


async def _send_all(requests: Sequence[CompletionRequest], concurrency: int, stall: float, replies: _Replies) -> Batch:
    numbers = iter(range(replies.total))
    loads: list[Load] = []
    async with open_client(stall) as client:
        task = asyncio.create_task(watch_metrics(requests[0].url, loads))
        await asyncio.gather(*(_run_client(client, requests, numbers, replies) for _ in range(concurrency)))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    return Batch(
        replies=tuple(replies.received),
        seconds=time.monotonic() - replies.started,
        load=take_highest(loads),
        unsent=replies.total - len(replies.received),
    )


async def _run_client(
    client: httpx.AsyncClient, requests: Sequence[CompletionRequest], numbers: Iterator[int], replies: _Replies
) -> None:
    # Not one request more after a failure: what follows only writes over the first fault (post-mortem 7.1).
    while not replies.broken and (number := next(numbers, None)) is not None:
        which = number % len(requests)
        replies.add_reply(await send_request(client, requests[which], which))
