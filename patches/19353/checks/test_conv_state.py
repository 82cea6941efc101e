"""Checks of the causal convolution's state: decode with inactive rows, prefill, and the states around them.

The matrix is the one of the upstream tests: batch sizes, eager and graph, and the live-row counts of a batch that empties
and fills again. Each step is a test of its own, so that a report can say "batch 8, graph, live 5". The fixture ``device``
is Backproof's: an emulator, or the NPU.

What makes a row inactive, all at once: a zero-length query at the end of the batch, with the null block or with a stale slot,
a slot of -1, and a slot that is one past the last one or further. The release's own builder makes zero-length rows with the
null block (``test_builder``); the others are what the upstream tests call inactive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as torch's own documentation calls it
from vllm_ascend.models.glm5next.ops import causal_conv1d as wrapper

if TYPE_CHECKING:
    from collections.abc import Iterable

BATCHES = (4, 8, 16)
STEPS = range(6)
# Channels and width of the convolution by batch. The copy kernel works in tiles of 256 channels: 272 makes it cross one.
# The larger batches are kept small, for the interpreter needs about a millisecond for each tile of each state row.
SHAPES = {4: (272, 4), 8: (128, 4), 16: (128, 3)}
# Usual sizes of captured graphs, up to the deployment's 32; each with every number of live rows.
CAPTURED = (1, 2, 4, 8, 16, 24, 32)
PAGE = 2_293_760  # elements of a page of the model's cache, as the upstream test of the full width has it
GAP = 48  # elements between two pages, before the first and after the last
CANARY = 7.0
TOLERANCE = {torch.bfloat16: 2e-2, torch.float16: 2e-3}  # the upstream tests' own


def live_count(batch: int, step: int) -> int:
    return (batch, batch - 1, batch - 2, batch // 2 + 1, 0, batch)[step]


def cases(batches: Iterable[int], steps: Iterable[int]) -> list[Any]:
    """One named case for each batch size, mode and step."""
    return [
        pytest.param(batch, graph, step, id=f"batch{batch}-{mode}-step{step}-live{live_count(batch, step)}")
        for batch in batches
        for graph, mode in ((False, "eager"), (True, "graph"))
        for step in steps
    ]


@dataclass(frozen=True)
class Contents:
    """What one step starts from, on the host."""

    backing: Any
    x: Any
    starts: Any
    indices: Any
    active: list[int]
    inactive: list[int]


@dataclass(frozen=True)
class Buffers:
    """The device tensors that a graph is captured with: their addresses stay, their contents change."""

    backing: Any
    state: Any
    x: Any
    weight: Any
    starts: Any
    indices: Any

    def fill(self, contents: Contents) -> None:
        self.backing.copy_(contents.backing)
        self.x.copy_(contents.x)
        self.starts.copy_(contents.starts)
        self.indices.copy_(contents.indices)


@dataclass(frozen=True)
class Layout:
    """Slots in pages with gaps, as the cache of a hybrid model has them; or without gaps, which needs no staging."""

    slots: int
    dim: int
    width: int
    gap: int
    ahead: int = 0  # rows for tokens that speculative decoding may reject
    dim_first: bool = False  # the cache has channels before rows, and the model transposes it

    @property
    def rows(self) -> int:
        return self.width - 1 + self.ahead

    @property
    def page(self) -> int:
        return self.rows * self.dim + self.gap

    @property
    def elements(self) -> int:
        return self.gap + self.slots * self.page

    def state_in(self, backing: Any) -> Any:
        strides = (1, self.rows) if self.dim_first else (self.dim, 1)
        return backing.as_strided((self.slots, self.rows, self.dim), (self.page, *strides), self.gap)

    def fresh(self, generator: Any, dtype: Any) -> Any:
        """A backing with a history in every slot and a canary in every gap."""
        backing = torch.full((self.elements,), CANARY, dtype=dtype)
        self.state_in(backing).copy_(random(generator, self.slots, self.rows, self.dim).to(dtype))
        return backing

    def weight(self, dtype: Any) -> Any:
        return random(torch.Generator().manual_seed(self.dim), self.width, self.dim).to(dtype)


def layout_for(batch: int, *, strided: bool = True) -> Layout:
    dim, width = SHAPES[batch]
    return Layout(slots=2 * batch + 3, dim=dim, width=width, gap=GAP if strided else 0)


def random(generator: Any, *shape: int) -> Any:
    return torch.randn(*shape, generator=generator) * 0.2


def step_contents(batch: int, step: int, dtype: Any, layout: Layout, *, foreign: bool = True) -> Contents:
    """One decode step; slots are scattered and others at every step. ``foreign``: also slots of -1 and past the end."""
    generator = torch.Generator().manual_seed(1000 * batch + step)
    live = live_count(batch, step)
    idle = batch - live
    tail = (idle + 1) // 2 if foreign else idle
    slots = (1 + torch.randperm(layout.slots - 1, generator=generator)).tolist()
    indices, lengths = slots[:batch], [1] * batch
    for nth, row in enumerate(torch.randperm(batch - tail, generator=generator).tolist()[: idle - tail]):
        indices[row] = (-1, layout.slots, layout.slots + 1)[nth % 3]
    inactive = [row for row in range(batch - tail) if not 0 <= indices[row] < layout.slots]
    for nth, row in enumerate(range(batch - tail, batch)):
        lengths[row] = 0
        indices[row] = 0 if nth % 2 == 0 or not foreign else indices[row]
        inactive.append(row)
    return Contents(
        backing=layout.fresh(generator, dtype),
        x=random(generator, batch, layout.dim).to(dtype),
        starts=torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32),
        indices=torch.tensor(indices, dtype=torch.int32),
        active=[row for row in range(batch) if row not in inactive],
        inactive=inactive,
    )


def on_device(device: Any, contents: Contents, layout: Layout, weight: Any) -> Buffers:
    backing = device.put(contents.backing)
    return Buffers(
        backing=backing,
        state=layout.state_in(backing),
        x=device.put(contents.x),
        weight=device.put(weight),
        starts=device.put(contents.starts),
        indices=device.put(contents.indices),
    )


def convolved(history: Any, tokens: Any, weight: Any) -> Any:
    """The reference, in float32 and with torch's own convolution."""
    line = torch.cat((history.float(), tokens.float())).T.unsqueeze(0)
    made = F.conv1d(line, weight.float().T.unsqueeze(1), groups=tokens.shape[1])
    return F.silu(made).squeeze(0).T


def expected(
    contents: Contents, layout: Layout, weight: Any, *, fresh: frozenset[int] = frozenset()
) -> tuple[Any, Any]:
    """Output of the active requests by token, and the whole backing afterwards; ``fresh`` requests have no history."""
    backing = contents.backing.clone()
    state = layout.state_in(backing)
    output = {}
    starts, indices = contents.starts.tolist(), contents.indices.tolist()
    for row in contents.active:
        tokens = contents.x[starts[row] : starts[row + 1]]
        slot = state[indices[row]][: layout.width - 1]
        history = torch.zeros_like(slot) if row in fresh else slot.clone()
        output[row] = convolved(history, tokens, weight)
        slot.copy_(torch.cat((history, tokens))[-len(slot) :])
    return output, backing


@pytest.fixture(scope="module")
def graphs() -> dict[Any, Any]:
    """Graphs are captured once and replayed by the tests that share them: that is what they are for."""
    return {}


def call_wrapper(buffers: Buffers, *, run_mode: int, **more: Any) -> Any:
    """Call the wrapper as the release does: 0 is prefill, 1 is decode."""
    return wrapper.causal_conv1d(
        buffers.x, buffers.weight, buffers.state, buffers.starts, buffers.indices, run_mode=run_mode, **more
    )


def decode(buffers: Buffers) -> Any:
    return call_wrapper(buffers, run_mode=1)


def run_step(
    device: Any, graphs: dict[Any, Any], contents: Contents, *, graph: bool, layout: Layout, dtype: Any
) -> tuple[Buffers, Any]:
    """Run one decode step, eagerly or by replaying a graph that was captured with every row active."""
    weight = layout.weight(dtype)
    if not graph:
        buffers = on_device(device, contents, layout, weight)
        return buffers, decode(buffers)
    key = (layout, dtype)
    if key not in graphs:
        full = step_contents(contents.x.shape[0], 0, dtype, layout)
        buffers = on_device(device, full, layout, weight)
        graphs[key] = (buffers, device.capture(lambda: decode(buffers)))
    buffers, captured = graphs[key]
    buffers.fill(contents)
    captured.replay()
    return buffers, captured.result


def check_step(device: Any, buffers: Buffers, result: Any, contents: Contents, layout: Layout, dtype: Any) -> None:
    """Active output rows, the whole backing, and what must not have been written."""
    weight = layout.weight(dtype)
    output, backing = expected(contents, layout, weight)
    device.synchronize()
    observe_rest(device, buffers, result, contents)
    # Rows are read one token each: in decode the row of a request is the row of its token.
    wanted = [output[row][0] for row in contents.active]
    got = device.read(result, "output", rows=contents.active).float()
    error = float((got - torch.stack(wanted)).abs().max()) if wanted else 0.0
    exact = bool(torch.equal(got.to(dtype), torch.stack(wanted).to(dtype))) if wanted else True
    left = device.look(buffers.backing)
    device.observe(active_exact=exact, active_max_abs_err=error, state_exact=bool(torch.equal(left, backing)))
    assert error <= TOLERANCE[dtype], f"active output rows differ from the reference by {error}"
    check_backing(left, backing, layout)
    for name, kept in (("starts", contents.starts), ("indices", contents.indices)):
        assert torch.equal(device.look(getattr(buffers, name)), kept), f"the caller's {name} were overwritten"
    assert torch.equal(device.look(buffers.weight), weight), "the weights were overwritten"


def check_backing(left: Any, backing: Any, layout: Layout) -> None:
    """Bit for bit, gaps and other requests' slots included; says which slot is wrong first."""
    if torch.equal(left, backing):
        return
    wrong = int((left != backing).nonzero()[0])
    slot, within = divmod(wrong - layout.gap, layout.page)
    where = (
        f"element {within} of slot {slot}" if 0 <= within < layout.rows * layout.dim else f"the gap after slot {slot}"
    )
    pytest.fail(f"the cache was written wrongly, first in {where}: {float(left[wrong])}, not {float(backing[wrong])}")


def observe_rest(device: Any, buffers: Buffers, result: Any, contents: Contents) -> None:
    """What no assertion is about: the rows of nobody, the null row, and whether the input was used for the output."""
    note = device.notes[-1] if device.notes else {}
    device.observe(
        inactive_rows=device.classify(result[contents.inactive]),
        inner_null_row=note.get("inner_null_row", "n/a"),
        inner_null_row_computed=note.get("inner_null_row_computed", False),
        input_overwritten=not torch.equal(device.look(buffers.x), contents.x),
    )


@pytest.mark.parametrize(("batch", "graph", "step"), cases(BATCHES, STEPS))
def test_decode(device: Any, graphs: dict[Any, Any], batch: int, graph: bool, step: int) -> None:
    """Active rows and the cache are right whatever the inactive rows are."""
    layout = layout_for(batch)
    contents = step_contents(batch, step, torch.bfloat16, layout)
    device.observe(batch=batch, graph=graph, step=step, live=len(contents.active))
    buffers, result = run_step(device, graphs, contents, graph=graph, layout=layout, dtype=torch.bfloat16)
    check_step(device, buffers, result, contents, layout, torch.bfloat16)


def check_once(device: Any, layout: Layout, contents: Contents, dtype: Any = torch.bfloat16) -> Any:
    """One eager decode step and all that is asked of it."""
    batch = len(contents.indices)
    device.observe(batch=batch, graph=False, live=len(contents.active), dtype=str(dtype).removeprefix("torch."))
    buffers, result = run_step(device, {}, contents, graph=False, layout=layout, dtype=dtype)
    check_step(device, buffers, result, contents, layout, dtype)
    return result


def test_decode_float16(device: Any) -> None:
    layout = layout_for(4)
    check_once(device, layout, step_contents(4, 1, torch.float16, layout), torch.float16)


def row_contents(layout: Layout, slots: list[int], lengths: list[int], seed: int = 0) -> Contents:
    """Requests of these slots and numbers of tokens; no token or no such slot makes one inactive."""
    generator = torch.Generator().manual_seed(seed)
    active = [row for row, slot in enumerate(slots) if 0 <= slot < layout.slots and lengths[row]]
    return Contents(
        backing=layout.fresh(generator, torch.bfloat16),
        x=random(generator, sum(lengths), layout.dim).to(torch.bfloat16),
        starts=torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32),
        indices=torch.tensor(slots, dtype=torch.int32),
        active=active,
        inactive=[row for row in range(len(slots)) if row not in active],
    )


def decode_contents(layout: Layout, slots: list[int], lengths: list[int]) -> Contents:
    """The same for decode: x has a row for each request of the graph, whether or not that has a token."""
    rows = random(torch.Generator().manual_seed(1), len(slots), layout.dim).to(torch.bfloat16)
    return replace(row_contents(layout, slots, lengths), x=rows)


@pytest.mark.parametrize(
    ("batch", "live"),
    [pytest.param(batch, live, id=f"of{batch}-live{live}") for batch in CAPTURED for live in range(batch + 1)],
)
def test_live_count(device: Any, batch: int, live: int) -> None:
    """Seven sizes with every number of live rows in front, padded as the builder pads; narrow, for time."""
    layout = Layout(slots=batch + 2, dim=16, width=2, gap=GAP)
    slots = [*range(1, live + 1), *[0] * (batch - live)]
    check_once(device, layout, decode_contents(layout, slots, [1] * live + [0] * (batch - live)))


def test_edge_slots(device: Any) -> None:
    """The first and the last slot are live, their neighbours are not, and the last row is live behind an idle one."""
    layout = layout_for(8)
    last = layout.slots - 1
    check_once(device, layout, decode_contents(layout, [0, last, -1, last + 1, 1, -2, 2 * last, 3], [1] * 8))


LAYOUTS = {
    "width2": Layout(slots=9, dim=128, width=2, gap=GAP),
    "width3": Layout(slots=9, dim=128, width=3, gap=GAP),
    "page": Layout(slots=6, dim=128, width=4, gap=PAGE - 3 * 128),
    "dim-first": Layout(slots=9, dim=128, width=4, gap=GAP, dim_first=True),
    "dim-first-gapless": Layout(slots=9, dim=272, width=4, gap=0, dim_first=True),
    "ahead": Layout(slots=9, dim=128, width=4, gap=GAP, ahead=5),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout(device: Any, name: str) -> None:
    """Other widths, the page of the model's cache, channels before rows, and rows for speculative tokens."""
    layout = LAYOUTS[name]
    check_once(device, layout, decode_contents(layout, [5, -1, 2, layout.slots, 3, 0], [1, 1, 1, 1, 1, 0]))


def tokens_contents(layout: Layout, lengths: list[int], seed: int) -> Contents:
    """Requests of these numbers of tokens; one of none has no slot."""
    slots = (1 + torch.randperm(layout.slots - 1, generator=torch.Generator().manual_seed(seed))).tolist()
    indices = [slot if count else -1 for slot, count in zip(slots, lengths, strict=False)]
    return row_contents(layout, indices, lengths, seed=seed)


def verified(history: Any, tokens: Any, accepted: int) -> Any:
    """The state after a verification: what the accepted tokens left moves to the front, the new tokens stand behind."""
    moved = history.clone()
    moved[:2] = history[accepted : accepted + 2]
    moved[2 : 2 + tokens.shape[0]] = tokens
    return moved


def check_tokens(device: Any, layout: Layout, contents: Contents, accepted: list[int]) -> None:
    """Speculative decoding: every output row and the whole cache are the reference's."""
    weight = layout.weight(torch.bfloat16)
    buffers = on_device(device, contents, layout, weight)
    result = call_wrapper(
        buffers, run_mode=1, num_accepted_tokens=device.put(torch.tensor(accepted, dtype=torch.int32))
    )
    device.synchronize()
    device.observe(live=len(contents.active), tokens=contents.x.shape[0])
    starts = contents.starts.tolist()
    spans = {row: list(range(starts[row], starts[row + 1])) for row in contents.active}
    got = device.read(result, "output", rows=[token for span in spans.values() for token in span]).float()
    backing = contents.backing.clone()
    wanted = []
    for row, span in spans.items():
        slot = layout.state_in(backing)[int(contents.indices[row])]
        wanted.append(convolved(slot[accepted[row] - 1 :][:3], contents.x[span], weight))
        slot.copy_(verified(slot, contents.x[span], accepted[row]))
    error = float((got - torch.cat(wanted)).abs().max())
    assert error <= TOLERANCE[torch.bfloat16], f"the output of live requests differs by {error}"
    check_backing(device.look(buffers.backing), backing, layout)


# Three speculative tokens: each request brings at most four, and has rows for three that may be rejected.
VERIFYING = Layout(slots=9, dim=128, width=4, gap=GAP, ahead=3)


@pytest.mark.parametrize("seed", range(6))
def test_several_tokens(device: Any, seed: int) -> None:
    """0 to 4 tokens a request, 1 to 4 accepted before, and never as many rows as requests."""
    generator = torch.Generator().manual_seed(seed)
    lengths = [2, *torch.randint(0, 5, (4,), generator=generator).tolist()]
    lengths += [0] if sum(lengths) != len(lengths) + 1 else [0, 0]
    accepted = torch.randint(1, 5, (len(lengths),), generator=generator).tolist()
    check_tokens(device, VERIFYING, tokens_contents(VERIFYING, lengths, seed), accepted)


def test_tokens_without_a_slot(device: Any) -> None:
    """A request that has tokens, and no slot: it is inactive, and no empty row that the operator would leave at once."""
    check_tokens(device, VERIFYING, row_contents(VERIFYING, [5, -1, 3, 0], [4, 2, 3, 0]), [2, 1, 4, 1])


def test_as_many_rows_as_requests(device: Any) -> None:
    """The operator's host takes this for one token each, whatever the starts are."""
    contents = tokens_contents(VERIFYING, [2, 1, 1, 0], 0)
    check_tokens(device, VERIFYING, contents, [1, 1, 1, 1])


def test_full_width(device: Any) -> None:
    """The width of the model: 96 tiles of the copy kernel, and many of the operator."""
    layout = Layout(slots=6, dim=24_576, width=4, gap=PAGE - 3 * 24_576)
    check_once(device, layout, step_contents(4, 1, torch.bfloat16, layout, foreign=False))


@pytest.mark.parametrize(("batch", "graph", "step"), cases([4], [1, 3, 4]))
def test_inactive_output(device: Any, graphs: dict[Any, Any], batch: int, graph: bool, step: int) -> None:
    """The wrapper's own comment: the output of skipped rows must stay zero."""
    layout = layout_for(batch)
    contents = step_contents(batch, step, torch.bfloat16, layout)
    device.observe(batch=batch, graph=graph, step=step, live=len(contents.active))
    buffers, result = run_step(device, graphs, contents, graph=graph, layout=layout, dtype=torch.bfloat16)
    device.synchronize()
    observe_rest(device, buffers, result, contents)
    got = device.read(result, "output", rows=contents.inactive)
    assert bool((got == 0).all()), f"output rows {contents.inactive} belong to no request and are not zero"


@pytest.mark.parametrize("run_mode", [1, 0], ids=["decode", "prefill"])
def test_null_row(device: Any, monkeypatch: pytest.MonkeyPatch, run_mode: int) -> None:
    """At the operator's door: the null block is a row of the state that is handed over, and that row is zero.

    A precondition, not an effect: where the operator filters the null row, what it holds changes nothing. The operator
    itself is not called.
    """
    seen: dict[str, Any] = {}

    def door(x: Any, *args: Any, **kwargs: Any) -> Any:
        state = kwargs["conv_states"] if run_mode == 0 else args[0]
        null = kwargs["null_block_id"]
        inside = null is not None and 0 <= null < state.shape[0]
        seen.update(null=null, rows=state.shape[0], row=device.classify(state[null]) if inside else "n/a")
        return x

    monkeypatch.setattr(wrapper, "causal_conv1d_fn" if run_mode == 0 else "causal_conv1d_update", door)
    layout = layout_for(4)
    contents = step_contents(4, 1, torch.bfloat16, layout)
    buffers = on_device(device, contents, layout, layout.weight(torch.bfloat16))
    initial = device.put(torch.ones(4, dtype=torch.bool))
    call_wrapper(buffers, run_mode=run_mode, initial_state_mode=initial)
    device.observe(null_block_id=seen["null"], inner_null_row=seen["row"])
    assert seen["row"] != "n/a", f"null block {seen['null']} is none of the {seen['rows']} rows of the state"
    assert seen["row"] == "zero", f"the null row holds {seen['row']} when the operator is entered"


@pytest.mark.parametrize(("batch", "graph", "step"), cases([4], [0, 1, 3]))
def test_contiguous_decode(device: Any, graphs: dict[Any, Any], batch: int, graph: bool, step: int) -> None:
    """A guard: without gaps there is no staging, block 0 is the null block, and padding is as the builder makes it."""
    layout = layout_for(batch, strided=False)
    contents = step_contents(batch, step, torch.bfloat16, layout, foreign=False)
    device.observe(batch=batch, graph=graph, step=step, live=len(contents.active))
    buffers, result = run_step(device, graphs, contents, graph=graph, layout=layout, dtype=torch.bfloat16)
    check_step(device, buffers, result, contents, layout, torch.bfloat16)


def check_prefill(device: Any, layout: Layout, slots: list[int]) -> None:
    lengths, initial = [5, 2, 1, 0], [True, True, False, True]
    contents = row_contents(layout, slots, lengths)
    weight = layout.weight(torch.bfloat16)
    buffers = on_device(device, contents, layout, weight)
    result = call_wrapper(buffers, run_mode=0, initial_state_mode=device.put(torch.tensor(initial)))
    device.synchronize()
    fresh = frozenset(row for row in range(4) if not initial[row])
    output, backing = expected(contents, layout, weight, fresh=fresh)
    starts = contents.starts.tolist()
    for row in contents.active:
        got = device.read(result, "output", rows=list(range(starts[row], starts[row + 1]))).float()
        error = float((got - output[row]).abs().max())
        assert error <= TOLERANCE[torch.bfloat16], f"the output of request {row} differs by {error}"
    check_backing(device.look(buffers.backing), backing, layout)
    assert torch.equal(device.look(buffers.x), contents.x), "prefill overwrote its input"


def test_prefill(device: Any) -> None:
    """A guard: prefill filters by its padding slot, whatever the null block is."""
    layout = layout_for(4)
    check_prefill(device, layout, [7, -1, 3, 5])


@pytest.mark.parametrize("slots", [[7, 2, 3, 5], [7, -1, 3, 0]], ids=["live", "padded"])
def test_contiguous_prefill(device: Any, slots: list[int]) -> None:
    """A guard, as for decode: a contiguous state goes to the operator as it is, padding slots included."""
    check_prefill(device, layout_for(4, strided=False), slots)
