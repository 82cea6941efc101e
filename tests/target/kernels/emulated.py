"""The same kernels through the emulator: what they do wrong is a fault of the launch."""

from __future__ import annotations

from typing import Any

import torch
from acme.rules import rules


def put(device: Any) -> Any:
    return device.put(torch.arange(64, dtype=torch.float32).reshape(8, 8))


def test_result(device: Any) -> None:
    x = put(device)
    assert torch.equal(device.read(rules(x, 0), "y"), 2 * x)


def test_replay(device: Any) -> None:
    x = put(device)
    graph = device.capture(lambda: rules(x, 0))
    x.fill_(3.0)
    graph.replay()
    assert bool((device.read(graph.result, "y") == 6).all())


def test_out_of_range(device: Any) -> None:
    rules(put(device), 2)


def test_unwritten(device: Any) -> None:
    rules(put(device), 5)


def test_race(device: Any) -> None:
    rules(put(device), 13)


def test_host_refuses(device: Any) -> None:
    rules(put(device), -1)


def test_crash(device: Any) -> None:
    rules(put(device), 23)
