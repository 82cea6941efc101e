"""Numbers of one step: percentiles are those of `vllm bench serve`; a number that no float holds fails one request."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from backproof.serving.client import CompletionRequest, send_request
from backproof.serving.load_step import compute_spread
from hypothesis import given
from hypothesis import strategies as st


def by_rank(seconds: list[float], share: float) -> float:
    """numpy.percentile with its default method, which `vllm bench serve` uses."""
    values = sorted(1000 * value for value in seconds)
    place = share * (len(values) - 1)
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=300))
def test_percentiles_are_by_rank(seconds: list[float]) -> None:
    spread = compute_spread(seconds)
    assert spread is not None
    for value, share in ((spread.p50, 0.5), (spread.p90, 0.9), (spread.p99, 0.99)):
        assert value == pytest.approx(by_rank(seconds, share), abs=2e-3)


def test_replies_without_a_time_are_left_out() -> None:
    assert compute_spread([None, 0.25, None]) == compute_spread([0.25])
    assert compute_spread([None]) is None


def test_a_number_that_no_float_holds_fails_its_request() -> None:
    huge = 10**400
    chunk = {"choices": [{"text": "a", "logprobs": {"tokens": ["a"], "top_logprobs": [{"a": huge}]}}]}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    request = CompletionRequest(url="http://service", model="m", prompt="p", max_tokens=1)

    async def send() -> str:
        transport = httpx.MockTransport(lambda _: httpx.Response(200, text=body))
        async with httpx.AsyncClient(transport=transport) as client:
            return (await send_request(client, request, 0)).failure

    assert asyncio.run(send()) == "unreadable"
