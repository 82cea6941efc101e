"""The load that a service reports: every legal form of its text is read, and a hostile one costs nothing but itself."""

from __future__ import annotations

import asyncio
import time

import httpx
import pytest
from backproof.serving import metrics

RUNNING = "vllm:num_requests_running"


def test_several_engines_are_summed_and_the_fullest_cache_counts() -> None:
    text = (
        'vllm:num_requests_running{engine="0"} 3.0\nvllm:num_requests_running{engine="1"} 5\n'
        'vllm:num_requests_waiting{engine="0"} 1\nvllm:gpu_cache_usage_perc 0.25\nvllm:bad{} x\n'
    )
    load = metrics.parse_metrics(text)
    assert (load.running, load.waiting, load.cache_percent) == (8, 1, 25.0)
    assert metrics.parse_metrics("").source == "none"


@pytest.mark.parametrize(
    ("line", "running"),
    [
        (f'{RUNNING}{{model_name="a}}b"}} 3', 3),
        (f'{RUNNING}{{model_name="a\\"}} 9",engine="0"}} 3', 3),
        (f'{RUNNING}{{engine="0"}} 3 1767322800000', 3),
        (f"{RUNNING} 3 1767322800000", 3),
        (f"{RUNNING}\t3e0", 3),
        (f"{RUNNING} NaN", None),
        (f"{RUNNING} +Inf", None),
        (f"{RUNNING} {'9' * 400}", None),
        (f"{RUNNING}_created 3", None),
        (f'{RUNNING}{{engine="0', None),
        (f"{RUNNING}", None),
    ],
)
def test_one_line(line: str, running: float | None) -> None:
    load = metrics.parse_metrics(f"# TYPE {RUNNING} gauge\n{line}\nvllm:num_requests_waiting 7\n")
    assert (load.running, load.waiting) == (running, 7), "the line behind it is read in any case"


def test_an_engine_without_a_number_does_not_hide_the_others() -> None:
    load = metrics.parse_metrics('vllm:kv_cache_usage_perc{engine="0"} NaN\nvllm:kv_cache_usage_perc{engine="1"} 0.5\n')
    assert load.cache_percent == 50.0
    assert metrics.parse_metrics("vllm:kv_cache_usage_perc NaN\n").source == "none"


def test_a_long_line_takes_no_time() -> None:
    labels = ",".join(f'a{number}="b"' for number in range(60_000))
    started = time.monotonic()
    load = metrics.parse_metrics(f"{RUNNING}{{{labels}}} 3\nvllm:num_requests_waiting 7\n")
    assert time.monotonic() - started < 5
    assert (load.running, load.waiting) == (None, 7)


@pytest.mark.parametrize("beyond", [0, 1])
def test_the_last_line_of_a_cut_body_is_dropped(beyond: int) -> None:
    end = f"\n{RUNNING} 1"
    body = "vllm:num_requests_waiting 7\n" + "#" * (metrics._LIMIT - 28 - len(end)) + end + "2\n" * beyond
    response = httpx.Response(200, content=body.encode())
    load = metrics.parse_metrics(asyncio.run(metrics.read_body(response)))
    assert load.waiting == 7
    assert load.running == (None if beyond else 1), "12 that was cut is not 1"
