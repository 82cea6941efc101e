"""The hook into torch: fresh memory is poisoned and known by name, and a capture sees every tensor operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from backproof_target import poison
from backproof_target.emulator import current
from backproof_target.graph import needs_host, refuse

if TYPE_CHECKING:
    from backproof_target.memory import Allocation

_ALLOCATIONS = frozenset(
    {"empty", "empty_strided", "empty_like", "empty_permuted", "empty_quantized", "new_empty", "new_empty_strided"}
)


class DeviceMode(TorchDispatchMode):  # type: ignore[misc] # torch is not installed where types are checked
    """Active while a test has a device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        device = current()
        if device is None or device.inside:
            return func(*args, **kwargs)
        if device.tape is not None and needs_host(func):
            refuse(str(func))
        output = func(*args, **kwargs)
        name = str(func).split(".")[1]
        if name in _ALLOCATIONS and _is_plain(output):
            poison.fill(output)
            allocation = device.memory.note(output, name)
            if device.tape is not None:
                device.tape.call(lambda: _again(output, allocation))
        elif device.tape is not None:
            device.tape.add(func, (args, kwargs), output)
        return output


def _is_plain(output: Any) -> bool:
    """Whether there are bytes to fill: meta, fake and sparse tensors have none."""
    return type(output) is torch.Tensor and output.device.type == "cpu" and output.layout == torch.strided


def _again(output: Any, allocation: Allocation) -> None:
    """At a replay: the same memory, with nothing in it that could be relied on."""
    poison.fill(output)
    device = current()
    if device is not None:
        device.memory.adopt(allocation)
