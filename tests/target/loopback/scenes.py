"""What the device interface of the NPU is asked for."""

from __future__ import annotations

from typing import Any

import torch
import torch_npu


def test_strides_are_kept(device: Any) -> None:
    view = torch.arange(40.0).as_strided((3, 4), (12, 2), 5)
    moved = device.put(view)
    assert (moved.stride(), moved.storage_offset()) == ((12, 2), 5)
    assert torch.equal(device.read(moved, "moved", rows=[2, 0]), view[[2, 0]])


def test_graph(device: Any) -> None:
    x = device.put(torch.ones(2))
    graph = device.capture(lambda: x * 2)
    graph.replay()
    device.observe(kind=device.kind, word=device.classify(graph.result), notes=len(device.notes))


def test_nan(device: Any) -> None:
    assert device.classify(torch.tensor([float("nan")])) == "nan"


def test_fault(device: Any) -> None:
    torch_npu.break_with("synchronize: MTE error, an invalid address")
    device.look(torch.ones(1))


def test_after_the_fault(device: Any) -> None:
    device.look(torch.ones(1))
