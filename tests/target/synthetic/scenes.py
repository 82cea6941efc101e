"""What the emulator is shown; ``test_emulator.py`` says what it must answer to each scene."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from acme.device.ops import bump, gather_rows
from gizmo.inner import kernels


def rows(count: int, dim: int = 24) -> Any:
    return torch.arange(count * dim, dtype=torch.float32).reshape(count, dim) + 1


def copy(source: Any, target: Any, indices: list[int]) -> None:
    grid = (len(indices), 1)
    kernels.copy_rows[grid](source, target, torch.tensor(indices), DIM=source.shape[1], BLOCK=16)


def test_in_range(device: Any) -> None:
    source, target = device.put(rows(4)), device.put(torch.zeros(3, 24))
    copy(source, target, [3, 0, 2])
    device.observe(word="said", number=1.5, whole=3, flag=True, many=[1, 2], endless=float("inf"))
    assert torch.equal(device.read(target, "target"), rows(4)[[3, 0, 2]])


def test_negative_index(device: Any) -> None:
    copy(device.put(rows(4)), device.put(torch.zeros(2, 24)), [1, -1])


def test_one_past_the_end(device: Any) -> None:
    copy(device.put(rows(4)), device.put(torch.zeros(2, 24)), [4, 1])


def test_one_row_too_many_written(device: Any) -> None:
    copy(device.put(rows(4)), device.put(torch.zeros(2, 24)), [0, 1, 2])


def test_lanes_masked_off(device: Any) -> None:
    """The second tile of 16 reaches past the 24 columns of the last row, with its mask off there."""
    copy(device.put(rows(1)), device.put(torch.zeros(1, 24)), [0])


def test_lanes_not_masked(device: Any) -> None:
    kernels.copy_unmasked[(1,)](device.put(rows(1)), device.put(torch.zeros(24)), DIM=24, BLOCK=32)


def test_view_in_larger_storage(device: Any) -> None:
    storage = device.put(rows(8))
    copy(storage[2:4], device.put(torch.zeros(1, 24)), [2])


def test_gap_in_a_strided_view(device: Any) -> None:
    """Bounds cannot see it; the comparison of the whole backing does."""
    backing = device.put(torch.zeros(4 * 32))
    view = backing.as_strided((4, 24), (32, 1))
    kernels.fill_strided[(3,)](view, STRIDE=32, WIDTH=32)
    assert float(device.look(backing).reshape(4, 32)[0, 24]) == 5.0


def test_scalar_and_vector_mask(device: Any) -> None:
    target = device.put(torch.zeros(16))
    kernels.scalar_mask[(1,)](device.put(torch.ones(16)), target, 5, BLOCK=16)
    assert float(device.read(target, "target").sum()) == 5.0


@pytest.mark.parametrize("checked", [True, False])
def test_block_pointer(device: Any, checked: bool) -> None:
    source, target = device.put(rows(3, 16)), device.put(torch.zeros(3, 16))
    kernels.block_copy[(1,)](source, target, 3, DIM=16, BLOCK=4, CHECKED=checked)
    assert torch.equal(device.read(target, "target"), rows(3, 16))


@pytest.mark.parametrize("index", [1, 5])
def test_atomic(device: Any, index: int) -> None:
    counters = device.put(torch.zeros(4, dtype=torch.int32))
    kernels.count_up[(1,)](counters, device.put(torch.tensor([index])))
    assert device.read(counters, "counters").tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("offset", [8, 1 << 40])
def test_pointer_from_an_integer(device: Any, offset: int) -> None:
    target = device.put(torch.zeros(1))
    kernels.through_integer[(1,)](device.put(rows(1)), target, offset)
    assert float(device.read(target, "target")) == 3.0


def test_secondary_error(device: Any) -> None:
    """A fault that the code under test swallows, and what comes after it."""
    source, target = device.put(rows(4)), device.put(torch.zeros(1, 24))
    with contextlib.suppress(Exception):
        copy(source, target, [-1])
    with contextlib.suppress(Exception):
        copy(source, target, [0])
    gather_rows(source, torch.tensor([0, 1, 2, 3]))


def test_after_a_secondary_error(device: Any) -> None:
    test_in_range(device)


def test_operator_out_of_range(device: Any) -> None:
    gather_rows(device.put(rows(3)), torch.tensor([0, 1, -1]))


def test_operator_notes(device: Any) -> None:
    assert torch.equal(gather_rows(device.put(rows(2)), torch.tensor([1, 0])), rows(2)[[1, 0]])
    assert device.notes == [{"operator": "gather_rows", "flavour": "sweet"}]


def test_skipped_row_is_read(device: Any) -> None:
    result = gather_rows(device.put(rows(3)), torch.tensor([0, 7, 2]))
    device.observe(skipped=device.classify(result[1:2]), whole=device.classify(result))
    device.read(result, "result")


def test_skipped_row_is_not_read(device: Any) -> None:
    result = gather_rows(device.put(rows(3)), torch.tensor([0, 7, 2]))
    device.read(result, "result", rows=[0, 2])


def test_operator_computes_from_fresh_memory(device: Any) -> None:
    x = torch.empty(2, 24)
    x[0] = 1
    device.read(gather_rows(x, torch.tensor([0, 1])) * 0.5, "result")


def test_kernel_copies_fresh_memory(device: Any) -> None:
    target = device.put(torch.zeros(1, 24))
    copy(torch.empty(2, 24), target, [1])
    device.read(target, "target")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.int16, torch.int32, torch.int64])
def test_fresh_memory(device: Any, dtype: Any) -> None:
    device.read(torch.empty((2, 3), dtype=dtype), "result")


def test_a_computed_nan_is_not_poison(device: Any) -> None:
    nans = torch.zeros(4) / torch.zeros(4)
    device.observe(word=device.classify(nans))
    device.read(torch.cat((nans, torch.full((4,), float("nan")))), "result")


def test_unmodelled(device: Any) -> None:
    gather_rows(device.put(rows(1)), torch.tensor([99]))


def test_no_stand_in(device: Any) -> None:
    import acme.device.other  # noqa: F401


def test_no_such_name(device: Any) -> None:
    import acme.device.ops

    assert not hasattr(acme.device.ops, "scatter_rows")
    acme.device.ops.scatter_rows(1)


def test_no_operator_of_torch(device: Any) -> None:
    torch.ops.acme.nothing(1)


def test_launch_without_a_device() -> None:
    bump(torch.zeros(2, 2), 0)


def test_replay(device: Any) -> None:
    """The same tensors with other contents; kernels, operators and tensor operations alike."""
    source, indices = device.put(rows(4)), device.put(torch.tensor([0, 1]))

    def work() -> Any:
        target = torch.empty(2, 24)
        kernels.copy_rows[(2, 1)](source, target, indices, DIM=24, BLOCK=16)
        return gather_rows(target, indices.clamp(max=1)) * 2 + source[:2]

    graph = device.capture(work)
    for step in (2, 3):
        source.copy_(rows(4) * step)
        indices.copy_(torch.tensor([step, 0]))
        graph.replay()
        chosen = (rows(4) * step)[[step, 0]]
        assert torch.equal(device.read(graph.result, "result"), chosen[[1, 0]] * 2 + (rows(4) * step)[:2])


def test_replay_poisons_again(device: Any) -> None:
    """What the last replay left in a pool tensor is not there any more."""
    live = device.put(torch.ones(2))

    def work() -> Any:
        pool = torch.empty(2, 2)
        pool[0] = live
        return pool

    graph = device.capture(work)
    graph.result.fill_(3)
    graph.replay()
    device.observe(written=device.classify(graph.result[0]), left=device.classify(graph.result[1]))


def test_replay_faults(device: Any) -> None:
    source, target, indices = device.put(rows(4)), device.put(torch.zeros(1, 24)), device.put(torch.tensor([0]))
    graph = device.capture(lambda: kernels.copy_rows[(1, 1)](source, target, indices, DIM=24, BLOCK=16))
    indices.fill_(-1)
    graph.replay()


@pytest.mark.parametrize("way", ["item", "tolist", "bool", "cpu", "nonzero"])
def test_host_read_in_a_capture(device: Any, way: str) -> None:
    x = device.put(torch.ones(1))
    ways = {
        "item": x.item,
        "tolist": x.tolist,
        "bool": lambda: bool(x),
        "cpu": x.cpu,
        "nonzero": x.nonzero,
    }
    device.capture(ways[way])
