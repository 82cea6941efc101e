"""`vllm bench serve` of the target, where it has one: its numbers are those that its own project compares.

Only numbers are taken from it. Whether requests failed and whether outputs are right is judged by our own requests, which
send fixed prompts; the benchmark's are random.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from backproof.adapters import proc
from backproof.adapters.environment import build_environment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.serving.round_context import RoundContext

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


def has_benchmark(python: Path, env: Mapping[str, str]) -> bool:
    """Ask the target for it. `vllm` itself is imported by that look-up in the target, never here."""
    return proc.run_process([str(python), *_ASK], env=build_environment(env), timeout=120).code == 0


def run_benchmark(
    context: RoundContext, url: str, model: str, *, concurrency: int, requests: int, timeout: float
) -> dict[str, float] | None:
    """Return its numbers; None when it gave none (a benchmark that fails is no failure of the service)."""
    result = context.folder / f"bench-{concurrency}.json"
    result.unlink(missing_ok=True)
    options = {
        "--backend": "openai",
        "--base-url": url,
        "--endpoint": "/v1/completions",
        "--model": model,
        "--dataset-name": "random",
        "--random-input-len": "512",
        "--random-output-len": str(context.serve.max_tokens),
        "--num-prompts": str(requests),
        "--max-concurrency": str(concurrency),
        "--result-dir": str(result.parent),
        "--result-filename": result.name,
    }
    words = [word for pair in options.items() for word in pair]
    argv = [str(context.python), "-m", "vllm.entrypoints.cli.main", "bench", "serve", *words]
    argv += ["--ignore-eos", "--save-result"]
    log = result.with_suffix(".log")
    proc.run_process(argv, env=build_environment(context.env), timeout=timeout, tee=log)
    return read_numbers(result)


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
