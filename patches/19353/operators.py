"""CPU references of the two device operators that the patched wrapper calls, and the modules it imports.

What the device does was read in public sources of the operator library; builds of it differ, so each behaviour is a
named model and nothing here is "the" operator. Facts that the models share:

* UPDATE has no padding slot of its own: the only filter is ``null_block_id``, and only when it is not negative.
* A filtered row is left before anything of it is read or written: its output row is whatever the output memory held.
* UPDATE without ``out`` computes into memory of its own, copies that over ``x`` and returns ``x``. FN returns its own.
* UPDATE with as many rows as requests takes one token of each and does not look at ``query_start_loc``. With any other
  number of rows it goes by ``query_start_loc``, and leaves a request of no token before it reads that request's index.
* UPDATE with accepted tokens (speculative decoding, a width of 4) starts from the history that the last accepted token
  left, and keeps two states of it in front of those of the new tokens; without, only the last ``width - 1`` are written.
* Indices and counts of any stride and integer type are taken: the operator's definition declares them as contiguous
  64-bit integers, and the framework and the binding convert.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch
from backproof_target.operators_api import Call, SourceOperator, Unmodelled, operator

try:
    import triton
    import triton.language as tl
except ImportError:  # then the target cannot import its kernels either, and says so itself
    triton = tl = None

if TYPE_CHECKING:
    from collections.abc import Iterator

PAD_SLOT_ID = -1
# What UPDATE passes as its padding slot: no index is equal to it.
NO_PADDING = -(1 << 63)

MODELS = {
    "raw": "a negative null block switches the filter off and every index is used as it is, without a bounds check",
    "skip": "a row whose index is negative or past the last state is skipped, whatever the null block is",
    "compute-null": "as raw, but the row of the null block is computed like any other instead of being filtered",
    "source": "the operator's own source, host tiling and kernel, compiled for a CPU",
}
# Prefill and decode are one operator: its tiling chooses the kernel, and its key has the arguments of the kernel's template.
SOURCE = SourceOperator(
    kernel="op_kernel/causal_conv1d.cpp",
    tiling="op_host/causal_conv1d_tiling.cpp",
    entry="causal_conv1d<{0}, {1}, {2}>",
    inputs=(
        "x",
        "weight",
        "bias",
        "conv_states",
        "query_start_loc",
        "cache_indices",
        "initial_state_mode",
        "num_accepted_tokens",
    ),
    outputs=("y",),
    written=("conv_states",),
)
_FN, _UPDATE = 0, 1  # the operator's run modes
OPTIONS = {
    # "given" is a what-if: the wrapper of this release does not hand over an output; a later one hands over zeros.
    "out": ("none", "given"),
    # Who fills a given output: the stable binding writes into it, the ctypes binding copies memory of its own over it.
    "backend": ("stable", "ctypes"),
}
LIMITS = (
    "Operator models are readings of public sources; which one a device has depends on the installed operator library.",
    "With out=given the zeroed output is put in at the operator's boundary: the wrapper under test does not hand it over.",
    "UPDATE with accepted tokens is modelled from the operator's public source; a width other than 4 with them is not.",
    "A later binding refuses a negative null block, and UPDATE without max_query_len, with ValueError: not modelled.",
)


def _validate(x: Any, weight: Any, state: Any) -> None:
    """The refusals of the binding: with other shapes the device was never asked."""
    if x.dtype not in {torch.float16, torch.bfloat16} or weight.dtype != x.dtype or state.dtype != x.dtype:
        raise TypeError(f"x, weight and state must share float16 or bfloat16: {x.dtype}, {weight.dtype}, {state.dtype}")
    if weight.dim() != 2 or weight.shape[0] not in {2, 3, 4}:
        raise ValueError(f"weight must be (width, dim) with a width of 2, 3 or 4, got {tuple(weight.shape)}")
    width, dim = weight.shape
    if dim % 16:
        raise ValueError(f"dim must be divisible by 16, got {dim}")
    if state.dim() != 3 or state.shape[2] != dim or state.shape[1] < width - 1:
        raise ValueError(f"state must be (slots, >= {width - 1}, {dim}), got {tuple(state.shape)}")
    if not state.is_contiguous():
        raise Unmodelled("the operator writes a contiguous copy of a strided state and loses it: not modelled")


def _filtered(call: Call, index: int, *, slots: int, pad: int, null: int | None) -> bool:
    """Whether the operator leaves this row before touching anything."""
    if index == pad:
        return True
    if call.model == "skip":
        return not 0 <= index < slots or index == null
    if call.model == "compute-null":
        return False
    return null is not None and 0 <= null == index


def _convolve(history: Any, tokens: Any, weight: Any, activation: str | None) -> Any:
    """Output of some tokens after a history of ``width - 1``, in float32."""
    width = weight.shape[0]
    line = torch.cat((history.float(), tokens.float()))
    taps = weight.float()
    made = torch.stack([(line[at : at + width] * taps).sum(dim=0) for at in range(tokens.shape[0])])
    return made * torch.sigmoid(made) if activation in {"silu", "swish"} else made


def _leave_state(state: Any, tokens: Any, width: int, accepted: int | None) -> Any:
    """The rows of a state after some tokens; ``accepted`` tokens of the call before count, the rest was rejected."""
    offset = 0 if accepted is None else accepted - 1
    history = state[offset : offset + width - 1]
    if accepted is not None and width - 2 + tokens.shape[0] <= state.shape[0]:
        written = torch.cat((history[1:], tokens))
    else:
        written = torch.cat((history, tokens))[-(width - 1) :]
    return torch.cat((written, state[written.shape[0] :]))


def _note_null_row(call: Call, state: Any, null: int | None, indices: Any) -> None:
    """What the row of the null block holds when the operator is entered, and whether this model goes on to compute it."""
    inside = null is not None and 0 <= null < state.shape[0]
    call.note(
        null_block_id=null,
        inner_null_row=call.device.classify(state[null]) if inside else "n/a",
        inner_null_row_computed=inside and call.model == "compute-null" and null in call.integers(indices),
    )


def _one_request(
    call: Call,
    span: range,
    row: int,
    index: int,
    x: Any,
    weight: Any,
    state: Any,
    activation: str | None,
    *,
    fresh: bool = False,
    accepted: int | None = None,
) -> Any:
    """Compute one request in place of its state; ``fresh`` means that its history is zeros, not what the state holds."""
    width = weight.shape[0]
    if fresh:
        held = torch.zeros(state.shape[1:], dtype=state.dtype)
    else:
        held = call.load(state, "conv_state", index=index, row=row)
    tokens = torch.stack([call.load(x, "x", index=token, row=row) for token in span])
    if accepted is not None:
        accepted = min(max(accepted, 1), state.shape[1] - width + 2)
    offset = (accepted or 1) - 1
    made = _convolve(held[offset : offset + width - 1], tokens, weight, activation)
    call.store(state, "conv_state", _leave_state(held, tokens, width, accepted), index=index, row=row)
    return made.to(x.dtype)


def _segments(call: Call, query_start_loc: Any, indices: Any) -> Iterator[tuple[int, int, range]]:
    starts = call.integers(query_start_loc)
    for row, index in enumerate(call.integers(indices)):
        yield row, index, range(starts[row], starts[row + 1])


@operator("causal_conv1d_fn")
def causal_conv1d_fn(
    call: Call,
    x: Any,
    weight: Any,
    bias: Any,
    conv_states: Any = None,
    query_start_loc: Any = None,
    cache_indices: Any = None,
    has_initial_state: Any = None,
    activation: str | None = "silu",
    pad_slot_id: int = PAD_SLOT_ID,
    null_block_id: int | None = 0,
    head_num: int = 0,
) -> Any:
    """Prefill: requests of any length, by ``query_start_loc``; the output is memory of its own."""
    _validate(x, weight, conv_states)
    if bias is not None or head_num:
        raise Unmodelled("causal_conv1d_fn with a bias or a head split")
    _note_null_row(call, conv_states, null_block_id, cache_indices)
    y = call.allocate_like(x)
    if call.model == "source":
        named = {"query_start_loc": query_start_loc, "cache_indices": cache_indices}
        tensors = {
            "x": x,
            "weight": weight,
            "conv_states": conv_states,
            "initial_state_mode": has_initial_state,
            "y": y,
        }
        _run_source(call, {**tensors, **named}, activation, pad_slot_id, _FN)
        return y
    initial = None if has_initial_state is None else call.integers(has_initial_state)
    for row, index, span in _segments(call, query_start_loc, cache_indices):
        if not span or _filtered(call, index, slots=conv_states.shape[0], pad=pad_slot_id, null=null_block_id):
            continue
        fresh = initial is None or not initial[row]
        y[span.start : span.stop] = _one_request(
            call, span, row, index, x, weight, conv_states, activation, fresh=fresh
        )
    return y


@operator("causal_conv1d_update")
def causal_conv1d_update(
    call: Call,
    x: Any,
    conv_state: Any,
    weight: Any,
    bias: Any = None,
    activation: str | None = None,
    conv_state_indices: Any = None,
    num_accepted_tokens: Any = None,
    query_start_loc: Any = None,
    max_query_len: int = -1,
    null_block_id: int | None = 0,
    block_idx_last_scheduled_token: Any = None,
    initial_state_idx: Any = None,
    validate_data: bool = False,  # noqa: ARG001, FBT002 - the binding's signature
    out: Any = None,
) -> Any:
    """Decode: one token per request, by row; or several, by ``query_start_loc``, as speculative decoding verifies them."""
    _validate(x, weight, conv_state)
    if any(each is not None for each in (bias, block_idx_last_scheduled_token, initial_state_idx)):
        raise Unmodelled("causal_conv1d_update with a bias or block scheduling")
    if x.dim() != 2 or max_query_len >= 0 or (num_accepted_tokens is not None and weight.shape[0] != 4):
        raise Unmodelled("causal_conv1d_update of a 3-dimensional x, or with accepted tokens and a width other than 4")
    _note_null_row(call, conv_state, null_block_id, conv_state_indices)
    y = call.allocate_like(x)
    if call.option("out") == "given" and out is None:
        out = torch.zeros_like(x)
    if out is not None and call.option("backend") == "stable":
        y = out
    if call.model == "source":
        named = {"query_start_loc": query_start_loc, "cache_indices": conv_state_indices, "y": y}
        tensors = {"x": x, "weight": weight, "conv_states": conv_state, "num_accepted_tokens": num_accepted_tokens}
        _run_source(call, {**tensors, **named}, activation, NO_PADDING, _UPDATE)
    else:
        requests = list(_update_requests(call, x, query_start_loc, conv_state_indices, num_accepted_tokens))
        _decode(call, y, x, conv_state, weight, activation, requests, null_block_id)
    if y is out:
        return y
    answer = x if out is None else out
    answer.copy_(y)
    return answer


def _run_source(call: Call, given: dict[str, Any], activation: str | None, pad: int, mode: int) -> None:
    """The binding hands over indices and counts as 64-bit integers."""
    counts = {"query_start_loc", "cache_indices", "initial_state_mode", "num_accepted_tokens"}
    tensors = {
        name: value.to(torch.int64) if value is not None and name in counts else value
        for name, value in {**dict.fromkeys(SOURCE.names), **given}.items()
    }
    silu = int(activation in {"silu", "swish"})
    # Activation, padding slot, run mode, and heads, which a later version of the host reads.
    call.run_source(SOURCE, tensors, [silu, pad, mode, 0])


def _update_requests(
    call: Call, x: Any, query_start_loc: Any, indices: Any, accepted: Any
) -> Iterator[tuple[int, int, range, int | None]]:
    """Row, index, tokens and accepted tokens of each request that has a token."""
    counts = [None] * indices.shape[0] if accepted is None else call.integers(accepted)
    starts = list(range(x.shape[0] + 1)) if x.shape[0] == indices.shape[0] else call.integers(query_start_loc)
    for row, (index, count) in enumerate(zip(call.integers(indices), counts, strict=True)):
        if starts[row] < starts[row + 1]:
            yield row, index, range(starts[row], starts[row + 1]), count


def _decode(
    call: Call,
    y: Any,
    x: Any,
    state: Any,
    weight: Any,
    activation: str | None,
    requests: list[tuple[int, int, range, int | None]],
    null: int | None,
) -> None:
    for row, index, span, accepted in requests:
        if not _filtered(call, index, slots=state.shape[0], pad=NO_PADDING, null=null):
            made = _one_request(call, span, row, index, x, weight, state, activation, accepted=accepted)
            y[span.start : span.stop] = made


# The packages of the target whose __init__ is not run: they register models and pull in the whole serving stack.
SKELETON = ("vllm_ascend",)
MODULES: dict[str, dict[str, Any]] = {
    "vllm.triton_utils": {"tl": tl, "triton": triton},
    "vllm.v1.attention.backends.utils": {
        "PAD_SLOT_ID": PAD_SLOT_ID,
        "NULL_BLOCK_ID": 0,
        **dict.fromkeys(("mamba_get_block_table_tensor", "split_decodes_and_prefills")),
    },
    "fla_npu.ops.ascendc": {"causal_conv1d_fn": causal_conv1d_fn, "causal_conv1d_update": causal_conv1d_update},
    # What the release's metadata builder is derived from: of the builder only its own padding is called, so its bases
    # are empty here, and no line of vLLM's builder runs.
    "vllm.config": {"VllmConfig": object},
    "vllm.distributed": {"get_pcp_group": None},
    "vllm.v1.kv_cache_interface": {"AttentionSpec": object},
    "vllm.v1.attention.backend": {
        "AttentionCGSupport": SimpleNamespace(UNIFORM_BATCH=None),
        "CommonAttentionMetadata": object,
    },
    "vllm.v1.attention.backends.gdn_attn": {
        name: type(name, (), {})
        for name in ("GDNAttentionBackend", "GDNAttentionMetadata", "GDNAttentionMetadataBuilder")
    },
}
