"""One streamed completion, greedily decoded: its text, its timing, and the kind of its failure if it failed.

Everything that the service sends is hostile: sizes are bounded, a chunk that cannot be read is a failure of the request.
"""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import httpx

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

Failure = Literal["", "refused", "status", "error", "cut", "stalled", "unreadable"]
MOST: Final = 256 * 1024
"""Characters of one reply that are stored."""
CANDIDATES: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletionRequest:
    """One request."""

    url: str
    model: str
    prompt: str
    max_tokens: int
    candidates: bool = True
    """Ask for the likeliest tokens: some services refuse that with speculative decoding."""

    def build_body(self) -> dict[str, Any]:
        candidates = {"logprobs": CANDIDATES} if self.candidates else {}
        return {
            "model": self.model,
            "prompt": self.prompt,
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "seed": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **candidates,
        }


@dataclass(kw_only=True, slots=True)
class Reply:
    """The answer to one request."""

    prompt: int
    failure: Failure = ""
    why: str = ""
    text: str = ""
    tokens: list[str] = field(default_factory=list)
    likely: list[dict[str, float | None]] = field(default_factory=list)
    count: int = 0
    finish: str = ""
    first: float | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return not self.failure

    @property
    def per_token(self) -> float | None:
        """Seconds per token after the first."""
        if self.first is None or self.count < 2:
            return None
        return (self.seconds - self.first) / (self.count - 1)


def open_client(stall: float) -> httpx.AsyncClient:
    """Return a client without proxies of the environment: the service is here, or where the user says."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    return httpx.AsyncClient(
        timeout=httpx.Timeout(30, read=stall, pool=None), limits=limits, trust_env=False, follow_redirects=False
    )


async def send_request(client: httpx.AsyncClient, request: CompletionRequest, number: int) -> Reply:
    """Send one request and read its stream to the end; a failure is in the reply, never raised."""
    reply = Reply(prompt=number)
    started = time.monotonic()
    try:
        async with client.stream("POST", f"{request.url}/v1/completions", json=request.build_body()) as response:
            if response.status_code != httpx.codes.OK:
                reply.failure, reply.why = "status", f"HTTP {response.status_code}: {await _read_start(response)}"
            else:
                await _read_stream(response, reply, started)
    except httpx.ReadTimeout:
        reply.failure, reply.why = "stalled", f"no byte for {client.timeout.read:.0f} s after {reply.count} tokens"
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        reply.failure, reply.why = "refused", f"{type(error).__name__}: {error}"
    except (httpx.HTTPError, httpx.StreamError) as error:
        reply.failure, reply.why = "cut", f"{type(error).__name__}: {error} after {reply.count} tokens"
    reply.seconds = time.monotonic() - started
    return reply


async def _read_start(response: httpx.Response) -> str:
    async for part in response.aiter_text():
        return part[:300]
    return ""


async def _read_stream(response: httpx.Response, reply: Reply, started: float) -> None:
    ended = False
    async for data in _iterate_events(response):
        if data == "[DONE]":
            ended = True
            break
        try:
            _add_chunk(json.loads(data), reply, started)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            reply.failure, reply.why = "unreadable", f"a chunk that cannot be read ({error}): {data[:200]}"
        if reply.failure:
            return
    if not ended and not reply.finish:
        reply.failure, reply.why = "cut", f"the stream ended without a reason after {reply.count} tokens"


async def _iterate_events(response: httpx.Response) -> AsyncIterator[str]:
    size = 0
    async for line in response.aiter_lines():
        size += len(line)
        if size > 64 * MOST:
            return
        if line.startswith("data:"):
            yield line[5:].strip()


def _add_chunk(chunk: dict[str, Any], reply: Reply, started: float) -> None:
    if error := chunk.get("error"):
        reply.failure, reply.why = "error", str(error)[:300]
        return
    if usage := chunk.get("usage"):
        reply.count = int(usage["completion_tokens"])
    for choice in chunk.get("choices", [])[:1]:
        text = choice.get("text") or (choice.get("delta") or {}).get("content") or ""
        if text and reply.first is None:
            reply.first = time.monotonic() - started
        if len(reply.text) < MOST:
            reply.text += str(text)[:MOST]
            _add_candidates(choice.get("logprobs") or {}, reply)
        reply.count += bool(text)
        reply.finish = str(choice.get("finish_reason") or reply.finish)[:40]


def _add_candidates(logprobs: dict[str, Any], reply: Reply) -> None:
    reply.tokens += [str(token)[:200] for token in logprobs.get("tokens") or []]
    for position in logprobs.get("top_logprobs") or []:
        candidates = list((position or {}).items())[:20]
        reply.likely.append({str(token)[:200]: _parse_number(value) for token, value in candidates})


def _parse_number(value: Any) -> float | None:
    """Return None for what is no number: a device that computed NaN answers with it."""
    return float(value) if isinstance(value, (int, float)) and not math.isnan(value) else None
