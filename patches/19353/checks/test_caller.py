"""Checks around the convolution: what pads the graph's rows before it, and what becomes of their output behind it.

Before it is the release's metadata builder; behind it, in ``recurrent_kda``, an AscendC operator and then the release's
kernel ``write_recurrent_output``. The AscendC operator is not run: each of its rows is taken for the worst that it can be.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from vllm_ascend.models.glm5next.ops import causal_conv1d as wrapper
from vllm_ascend.ops.gdn_attn_builder import AscendGDNAttentionMetadataBuilder as Builder
from vllm_ascend.ops.triton.kda.output_writeback import write_recurrent_output

CAPTURED = 8  # requests of the graph
LIVE = (8, 7, 5, 3, 1, 0)
SLOTS, DIM, WIDTH = 20, 48, 4
HEADS = 3


def pad_decode(live: int) -> tuple[Any, Any, list[int]]:
    """Starts, indices and slots of a decode step as the release's own builder pads it for a graph of eight requests.

    The split of a batch into decode and prefill before it is vLLM's and is not run: here every live request is in decode.
    """
    builder = Builder.__new__(Builder)
    # What the graph was captured with, left by a step in which all requests were live.
    builder.non_spec_state_indices_tensor = torch.arange(1, CAPTURED + 1, dtype=torch.int32)
    builder.non_spec_query_start_loc = torch.arange(CAPTURED + 1, dtype=torch.int32)
    slots = (1 + torch.randperm(SLOTS - 1, generator=torch.Generator().manual_seed(live)))[:live]
    metadata = SimpleNamespace(
        num_decode_tokens=live,
        non_spec_state_indices_tensor=slots.to(torch.int32),
        non_spec_query_start_loc=torch.arange(live + 1, dtype=torch.int32),
    )
    builder._pad_decode_metadata(metadata, CAPTURED)  # noqa: SLF001 - the step that pads, alone
    return metadata.non_spec_query_start_loc, metadata.non_spec_state_indices_tensor, slots.tolist()


def run_decode(device: Any, live: int) -> tuple[Any, Any, Any, list[int]]:
    """The wrapper on the builder's rows: its output, the starts, the cache, and the live slots."""
    generator = torch.Generator().manual_seed(7)
    starts, indices, slots = pad_decode(live)
    backing = device.put(torch.full((SLOTS, WIDTH * DIM), 0.5, dtype=torch.bfloat16))
    state = backing.as_strided((SLOTS, WIDTH - 1, DIM), (WIDTH * DIM, DIM, 1))
    x = device.put(torch.randn(CAPTURED, DIM, generator=generator).to(torch.bfloat16))
    weight = device.put(torch.randn(WIDTH, DIM, generator=generator).to(torch.bfloat16))
    starts = device.put(starts)
    result = wrapper.causal_conv1d(x, weight, state, starts, device.put(indices), run_mode=1)
    device.synchronize()
    device.observe(batch=CAPTURED, live=live, graph=False)
    return result, starts, state, slots


@pytest.mark.parametrize("live", LIVE)
def test_builder(device: Any, live: int) -> None:
    """With the rows that the release's builder makes, live rows are computed and only the live slots change."""
    result, starts, state, slots = run_decode(device, live)
    assert starts.tolist() == [*range(live + 1), *[live] * (CAPTURED - live)]
    assert bool(device.read(result, "output", rows=list(range(live))).isfinite().all())
    left = device.look(state)
    changed = [slot for slot in range(SLOTS) if not bool((left[slot] == 0.5).all())]
    assert changed == sorted(slots), f"slots {changed} of the cache changed, and {sorted(slots)} are live"


def write_output(device: Any, rows: Any, starts: Any) -> Any:
    """What ``recurrent_kda`` does last, with these rows as what its AscendC operator left."""
    source = rows.reshape(1, rows.shape[0], HEADS, -1)
    destination = device.put(torch.full(source.shape, float("nan"), dtype=source.dtype))
    write_recurrent_output(source, destination, starts)
    device.synchronize()
    return destination[0]


@pytest.mark.parametrize("live", LIVE)
def test_written_back(device: Any, live: int) -> None:
    """Whatever the convolution and the operator left in the rows behind the last live one, the model gets zeroes there."""
    result, starts, _, _ = run_decode(device, live)
    rows = result.clone()
    rows[live:] = float("nan")
    written = write_output(device, rows, starts)
    device.observe(inactive_rows=device.classify(written[live:]))
    assert torch.equal(device.read(written, "output", rows=list(range(live))).flatten(1), device.look(rows)[:live])
    assert bool((device.look(written)[live:] == 0).all()), f"rows {live} and behind are not zero for the model"


def test_row_without_a_slot(device: Any) -> None:
    """A row that has a token and no slot, before a live one: the kernel that writes the output back goes by tokens."""
    rows = device.put(torch.ones(4, DIM, dtype=torch.bfloat16))
    rows[1] = float("nan")
    written = write_output(device, rows, device.put(torch.tensor([0, 1, 2, 3, 3], dtype=torch.int32)))
    device.observe(inactive_rows=device.classify(written[1]))
    assert bool((device.look(written)[3] == 0).all())
    assert bool((device.look(written)[1] == 0).all()), "row 1 belongs to no request, and reaches the model as it is"
