"""Public sources of the causal convolution beside a float32 reference; runs in the target's interpreter, which has torch.

``conv_sources.py CACHE NAME=FOLDER...`` prints a line for each measurement, and ends with 1 where one is not as documented.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from backproof_target import poison
from backproof_target.operator_build import Build
from backproof_target.operator_process import KINDS
from backproof_target.operator_source import Launched, launch_source
from operators import NO_PADDING, SOURCE  # type: ignore[import-not-found] # of the kit, whose operator this is

DTYPES = (torch.bfloat16, torch.float16)
DIMS = (208, 256, 384, 512, 1024, 1040, 2048, 4112)
SKIPS = {"3,-1,4,0": "skips [1]", "3,6,4,0": "skips [1]"}


@dataclass(frozen=True)
class Case:
    """One decode call; its state is written in place."""

    x: Any
    weight: Any
    bias: Any
    state: Any
    indices: Any
    starts: Any = None
    accepted: Any = None
    silu: bool = True

    def run(self, build: Build) -> tuple[Launched, Any]:
        y = torch.empty_like(self.x)
        poison.fill(y)
        given = {
            "x": self.x,
            "weight": self.weight,
            "bias": self.bias,
            "conv_states": self.state,
            "query_start_loc": self.starts,
            "cache_indices": self.indices,
            "initial_state_mode": None,
            "num_accepted_tokens": self.accepted,
            "y": y,
        }
        return launch_source(build, SOURCE, given, [int(self.silu), NO_PADDING, 1, 0]), y

    def expect(self) -> tuple[Any, Any]:
        """Return output and state as the operator's public description has them, computed in float32."""
        width, rows = self.weight.shape[0], self.state.shape[1]
        state, y = self.state.clone(), torch.full_like(self.x, float("nan"))
        starts = range(len(self.indices) + 1) if self.starts is None else self.starts.tolist()
        for request, slot in enumerate(self.indices.tolist()):
            tokens = self.x[starts[request] : starts[request + 1]]
            if not len(tokens) or not 0 <= slot < len(state):
                continue
            taken = 0 if self.accepted is None else int(self.accepted[request]) - 1
            first = min(max(taken, 0), rows - (width - 1))
            line = torch.cat([state[slot, first : first + width - 1], tokens])
            y[starts[request] : starts[request + 1]] = self._convolve(line)
            if self.accepted is None or width - 2 + len(tokens) > rows:
                state[slot, : width - 1] = line[-(width - 1) :]
            else:
                state[slot, : width - 2 + len(tokens)] = line[1:]
        return y, state

    def _convolve(self, line: Any) -> Any:
        width = self.weight.shape[0]
        taps = self.weight.float()
        made = torch.stack([(line[at : at + width].float() * taps).sum(0) for at in range(len(line) - width + 1)])
        made = made if self.bias is None else made + self.bias.float()
        return (torch.nn.functional.silu(made) if self.silu else made).to(self.x.dtype)


def make_case(
    seed: int, dtype: Any, *, batch: int, dim: int, width: int, rows: int, tokens: int, slots: int, bias: bool
) -> Case:
    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Any:
        return torch.randn(*shape, generator=generator).to(dtype)

    return Case(
        x=random(tokens, dim),
        weight=random(width, dim) * 0.5,
        bias=random(dim) if bias else None,
        state=random(slots, rows, dim),
        indices=torch.randperm(slots, generator=generator)[:batch],
    )


def is_right(case: Case, build: Build) -> bool:
    """Whether output (to one unit in the last place) and state are the reference's, and nothing was found."""
    y, state = case.expect()
    launched, got = case.run(build)
    defined = ~torch.isnan(y.float()).any(dim=1)
    units = (got.view(torch.int16).int() - y.view(torch.int16).int())[defined].abs()
    return not launched.findings and torch.equal(case.state, state) and (not units.numel() or int(units.max()) <= 1)


def list_updates() -> list[Case]:
    grid = itertools.product(DTYPES, (2, 3, 4), (False, True), DIMS)
    return [
        make_case(
            10 * width + dim, dtype, batch=16, dim=dim, width=width, rows=width - 1, tokens=16, slots=20, bias=bias
        )
        for dtype, width, bias, dim in grid
    ]


def list_accepted() -> list[Case]:
    """0 to 5 tokens a request, of which some were accepted. As many rows as requests would be one token each for the host."""
    cases = []
    for dtype, seed in itertools.product(DTYPES, range(80)):
        generator = torch.Generator().manual_seed(seed)
        batch = int(torch.randint(1, 17, (1,), generator=generator))
        lengths = torch.randint(0, 6, (batch,), generator=generator)
        lengths[0] += int(lengths.sum()) in {0, batch}
        lengths[0] += int(lengths.sum()) in {0, batch}
        rows = int(torch.randint(3, 9, (1,), generator=generator))
        tokens = int(lengths.sum())
        case = make_case(
            seed, dtype, batch=batch, dim=256, width=4, rows=rows, tokens=tokens, slots=batch + 3, bias=bool(seed % 2)
        )
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        accepted = torch.randint(0, 7, (batch,), generator=generator)
        cases.append(
            Case(
                x=case.x,
                weight=case.weight,
                bias=case.bias,
                state=case.state,
                indices=case.indices,
                starts=starts,
                accepted=accepted,
                silu=bool(seed % 3),
            )
        )
    return cases


def show_index(build: Build, indices: list[int]) -> str:
    """Return what one call with these cache indices does."""
    case = make_case(0, torch.bfloat16, batch=4, dim=256, width=4, rows=3, tokens=4, slots=6, bias=False)
    launched, y = Case(x=case.x, weight=case.weight, bias=None, state=case.state, indices=torch.tensor(indices)).run(
        build
    )
    if launched.findings:
        first = launched.findings[0]
        return f"{KINDS[first.kind]} of {first.tensor.decode()} row {first.row}" if first.tensor else KINDS[first.kind]
    skipped = [row for row in range(4) if bool(poison.where(y[row]).all())]
    return f"skips {skipped}" if skipped else "right"


EXPECTED_INDICES = {
    "flashserve": {
        "3,-1,4,0": "mte-out-of-range of conv_states row -1",
        "3,6,4,0": "mte-out-of-range of conv_states row 6",
    },
    "vllm-ascend": SKIPS,
    "vllm-ascend-0.23.0rc1": SKIPS,
}


def measure(name: str, build: Build) -> bool:
    updates = [is_right(case, build) for case in list_updates()]
    accepted = [is_right(case, build) for case in list_accepted()]
    print(
        f"{name}: update {sum(updates)} of {len(updates)} right; accepted tokens {sum(accepted)} of {len(accepted)} right"
    )
    good = all(updates) and all(accepted)
    for text, expected in EXPECTED_INDICES.get(name, {}).items():
        shown = show_index(build, [int(index) for index in text.split(",")])
        print(f"{name}: indices {text}: {shown}")
        good = good and shown == expected
    print(f"{name}: indices 3,3,4,0: {show_index(build, [3, 3, 4, 0])}")
    return good


def main(arguments: list[str]) -> int:
    torch.set_num_threads(1)
    cache, *sources = arguments
    named = [source.partition("=") for source in sources]
    right = [measure(name, Build(source=Path(folder), cache=Path(cache))) for name, _, folder in named]
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
