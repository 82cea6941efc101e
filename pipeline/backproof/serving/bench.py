"""`vllm bench serve` of the target, where it has one: its numbers are those that its own project compares.

Only numbers are taken from it. Whether requests failed and whether outputs are right is judged by our own requests, which
send fixed prompts; the benchmark's are random.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backproof.adapters import proc

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_ASK: Final = ("-c", "import importlib.util as u, sys; sys.exit(u.find_spec('vllm.benchmarks.serve') is None)")
_KEYS: Final = (
    "completed",
    "failed",
    "duration",
    "request_throughput",
    "output_throughput",
    "total_token_throughput",
    "mean_ttft_ms",
    "median_ttft_ms",
    "p99_ttft_ms",
    "mean_tpot_ms",
    "median_tpot_ms",
    "p99_tpot_ms",
)
_LIMIT: Final = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Benchmark:
    """One run of the target's benchmark against a service; `result` is the file that it writes."""

    python: Path
    env: Mapping[str, str]
    url: str
    model: str
    concurrency: int
    requests: int
    max_tokens: int
    result: Path
    timeout: float


def has_benchmark(python: Path, env: Mapping[str, str]) -> bool:
    """Ask the target for it. `vllm` itself is imported by that look-up in the target, never here."""
    return proc.run_process([str(python), *_ASK], env=proc.build_environment(env), timeout=120).code == 0


def run_benchmark(benchmark: Benchmark) -> dict[str, float] | None:
    """Return its numbers; None when it gave none (a benchmark that fails is no failure of the service)."""
    benchmark.result.unlink(missing_ok=True)
    log = benchmark.result.with_suffix(".log")
    proc.run_process(
        _build_argv(benchmark), env=proc.build_environment(benchmark.env), timeout=benchmark.timeout, tee=log
    )
    return read_numbers(benchmark.result)


def _build_argv(benchmark: Benchmark) -> list[str]:
    options = {
        "--backend": "openai",
        "--base-url": benchmark.url,
        "--endpoint": "/v1/completions",
        "--model": benchmark.model,
        "--dataset-name": "random",
        "--random-input-len": "512",
        "--random-output-len": str(benchmark.max_tokens),
        "--num-prompts": str(benchmark.requests),
        "--max-concurrency": str(benchmark.concurrency),
        "--result-dir": str(benchmark.result.parent),
        "--result-filename": benchmark.result.name,
    }
    words = [word for pair in options.items() for word in pair]
    program = [str(benchmark.python), "-m", "vllm.entrypoints.cli.main", "bench", "serve"]
    return [*program, *words, "--ignore-eos", "--save-result"]


def read_numbers(result: Path) -> dict[str, float] | None:
    """Return the numbers of a result file; keys that a version does not have are left out."""
    try:
        with result.open("rb") as stream:
            content = json.loads(stream.read(_LIMIT))
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict):
        return None
    numbers = {key: float(content[key]) for key in _KEYS if isinstance(content.get(key), (int, float))}
    return numbers or None
