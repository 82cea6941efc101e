"""What a launch of an operator's own source costs beside the Python model: the same decode call, in turns.

    tox run -e bench-kernel -- NAME=FOLDER...

Runs in the target's interpreter. Compilation is not counted; the process of each launch is. The figure is the ratio of
medians of processor time, which a busy machine changes less than it does the clock.
"""

from __future__ import annotations

import resource
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from backproof_target.operator_build import Build
from backproof_target.operators_api import Call
from conv_sources import Case, make_case  # of tests/operators
from operators import causal_conv1d_update  # type: ignore[import-not-found] # of the kit, whose operator this is

LAUNCHES = 9
SHAPES = (
    (16, 256),
    (16, 4096),
    (16, 24576),
)  # requests and channels; the last is the full width of the model that failed


def make_call(model: str, build: Build) -> Call:
    """Return a launch with nothing of the emulator but what the operator asks of it."""
    device: Any = SimpleNamespace(
        model=model,
        options={"out": "none", "backend": "stable"},
        source=build,
        notes=[],
        memory=SimpleNamespace(note=lambda *_: None),
    )
    return Call(device, "causal_conv1d_update")


def count_seconds() -> float:
    """Return the processor time of this process and of those that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def launch(call: Call, case: Case) -> tuple[float, Any]:
    """Return the processor seconds of one decode on its own copy of the case, and its output."""
    x, state = case.x.clone(), case.state.clone()
    begun = count_seconds()
    y = causal_conv1d_update.__wrapped__(
        call, x, state, case.weight, None, "silu", conv_state_indices=case.indices, null_block_id=None
    )
    return count_seconds() - begun, y


def measure(name: str, build: Build, batch: int, dim: int) -> None:
    case = make_case(
        dim, torch.bfloat16, batch=batch, dim=dim, width=4, rows=3, tokens=batch, slots=batch + 4, bias=False
    )
    calls = [make_call(model, build) for model in ("source", "raw")]
    first, second = (launch(call, case)[1] for call in calls)
    torch.testing.assert_close(first, second, rtol=2**-7, atol=2**-9)
    seconds = [[launch(call, case)[0] for call in calls] for _ in range(LAUNCHES)]
    source, model = (statistics.median(column) for column in zip(*seconds, strict=True))
    print(
        f"{name}: {batch} requests, {dim} channels: {source / model:.2f} times the model ({source * 1e3:.1f} ms, {model * 1e3:.1f} ms)"
    )


def main(arguments: list[str]) -> None:
    torch.set_num_threads(1)
    cache, *sources = arguments
    for name, _, folder in (source.partition("=") for source in sources):
        for batch, dim in SHAPES:
            measure(name, Build(source=Path(folder), cache=Path(cache)), batch, dim)


if __name__ == "__main__":
    main(sys.argv[1:])
