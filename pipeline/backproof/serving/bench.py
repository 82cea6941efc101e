"""`vllm bench serve` of the target, where it has one: its numbers are those that its own project compares.

Only numbers are taken from it. Whether requests failed and whether outputs are right is told by our own requests, which
send fixed prompts; the benchmark's are random.
"""

from __future__ import annotations

import json
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


def there(python: Path, env: Mapping[str, str]) -> bool:
    """Whether the target has it. `vllm` itself is imported by that look-up in the target, never here."""
    return proc.run([str(python), *_ASK], env=proc.environment(env), timeout=120).code == 0


def argv(
    python: Path, *, url: str, model: str, concurrency: int, requests: int, max_tokens: int, into: Path
) -> list[str]:
    options = {
        "--backend": "openai",
        "--base-url": url,
        "--endpoint": "/v1/completions",
        "--model": model,
        "--dataset-name": "random",
        "--random-input-len": "512",
        "--random-output-len": str(max_tokens),
        "--num-prompts": str(requests),
        "--max-concurrency": str(concurrency),
        "--result-dir": str(into.parent),
        "--result-filename": into.name,
    }
    words = [word for pair in options.items() for word in pair]
    return [str(python), "-m", "vllm.entrypoints.cli.main", "bench", "serve", *words, "--ignore-eos", "--save-result"]


def run(
    python: Path,
    *,
    env: Mapping[str, str],
    url: str,
    model: str,
    concurrency: int,
    requests: int,
    max_tokens: int,
    into: Path,
    timeout: float,
) -> dict[str, float] | None:
    """Its numbers; None when it gave none (a benchmark that fails is no failure of the service)."""
    into.unlink(missing_ok=True)
    command = argv(
        python, url=url, model=model, concurrency=concurrency, requests=requests, max_tokens=max_tokens, into=into
    )
    proc.run(command, env=proc.environment(env), timeout=timeout, tee=into.with_suffix(".log"))
    return read(into)


def read(result: Path) -> dict[str, float] | None:
    """The numbers of a result file; keys that a version does not have are left out."""
    try:
        with result.open("rb") as stream:
            found = json.loads(stream.read(_LIMIT))
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict):
        return None
    kept = {key: float(found[key]) for key in _KEYS if isinstance(found.get(key), (int, float))}
    return kept or None
