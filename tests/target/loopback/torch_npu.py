"""A loopback NPU: the calls of ``ascend.py`` land on the CPU, so that at least its code is executed somewhere.

It proves nothing about a device: a graph is what its function did once, and a fault is what a check asks for.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_broken: list[str] = []
_graphs: list[Any] = []


def break_with(text: str) -> None:
    _broken.append(text)


def _synchronize() -> None:
    if _broken:
        raise RuntimeError(_broken[0])


class _Graph:
    def __init__(self) -> None:
        self.replays = 0

    def replay(self) -> None:
        self.replays += 1


@contextmanager
def _scope(*_: Any) -> Iterator[None]:
    yield


def _stream() -> Any:
    return SimpleNamespace(wait_stream=lambda _: None)


def _install(npu: Callable[[Any], Any]) -> None:
    torch.Tensor.npu = npu
    torch.npu = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        synchronize=_synchronize,
        Stream=_stream,
        stream=_scope,
        current_stream=_stream,
        NPUGraph=_Graph,
        graph=_scope,
    )


_install(lambda tensor: tensor.clone())
