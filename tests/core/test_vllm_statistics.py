"""The engine's line of statistics, as versions of vLLM print it: served load and triage read it by the same parser."""

from __future__ import annotations

from pathlib import Path

import pytest
from backproof.core.vllm_statistics import parse_statistics
from backproof.serving import metrics
from backproof.triage import triage

RATES = "Avg prompt throughput: 812.4 tokens/s, Avg generation throughput: 253.6 tokens/s"


@pytest.mark.parametrize(
    ("rest", "numbers"),
    [
        ("Running: 8 reqs, Waiting: 2 reqs, GPU KV cache usage: 1.1%, Prefix cache hit rate: 0.0%", (8, 2, None, 1.1)),
        ("Running: 1 req, Waiting: 0 req, NPU KV cache usage: 97.5%", (1, 0, None, 97.5)),
        ("Running: 8 reqs, Waiting: 2 reqs, Preemptions: 3, GPU KV cache usage: 1.1%", (8, 2, 3, 1.1)),
        ("Running: 8 reqs, Waiting: 2 reqs, Deferred: 1 reqs, GPU KV cache usage: 1.1%", (8, 2, None, 1.1)),
        ("Running: 8 reqs, Waiting: 2 reqs", (8, 2, None, None)),
    ],
)
def test_each_version(rest: str, numbers: tuple[int, int, int | None, float | None]) -> None:
    seen = parse_statistics(f"Engine 000: {RATES}, {rest}")
    assert seen is not None
    assert (seen.prompt, seen.generation) == (812.4, 253.6)
    assert (seen.running, seen.waiting, seen.preemptions, seen.cache) == numbers


@pytest.mark.parametrize(
    "line",
    [
        "Avg prompt throughput: 1.2.3 tokens/s, Avg generation throughput: 4 tokens/s, Running: 8 reqs, Waiting: 2 reqs",
        "Running: 8 reqs, Waiting: 2 reqs",
        RATES,
        "",
    ],
)
def test_another_line_has_no_statistics(line: str) -> None:
    assert parse_statistics(line) is None


def test_both_readers_see_the_same_numbers(tmp_path: Path) -> None:
    rest = "Running: 8 reqs, Waiting: 2 reqs, Deferred: 1 reqs, NPU KV cache usage: 97.5%"
    log = tmp_path / "server.log"
    log.write_text(f"(APIServer pid=80) INFO 02-14 10:01:00 [loggers.py:259] Engine 000: {RATES}, {rest}\n")
    load = metrics.read_log_load(log, 0)
    result = triage([tmp_path])
    assert result.server is not None
    (sample,) = result.server.samples
    assert (load.running, load.waiting, load.cache_percent) == (sample.running, sample.waiting, sample.cache)
    assert (load.running, load.cache_percent, load.source) == (8, 97.5, "log")
