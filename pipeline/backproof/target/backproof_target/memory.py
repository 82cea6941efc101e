"""Allocations with an owner and bounds, and the views of them that are handed to kernels and operators.

The bounds of an access are those of the VIEW that was handed over, not of its storage: on the device a view of a page
is what the caller promised, and one row past it is somebody else's row even where the storage goes on. Gaps inside a
strided view are not seen here; checks compare the whole backing for that.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch.multiprocessing.reductions import StorageWeakRef

if TYPE_CHECKING:
    from types import FrameType


@dataclass(frozen=True, kw_only=True)
class View:
    """What a kernel or operator was handed: [low, high) in bytes, with words for people."""

    argument: str
    owner: str
    low: int
    high: int
    row_bytes: int

    def index_of(self, address: int) -> int | None:
        """The row of the first dimension that an address falls in; negative before the start."""
        return (address - self.low) // self.row_bytes if self.row_bytes else None


@dataclass(frozen=True, kw_only=True)
class Allocation:
    """One storage that is known, alive as long as ``alive`` says."""

    label: str
    low: int
    high: int
    storage: Any

    def alive(self) -> bool:
        return not self.storage.expired()


def _find_caller() -> str:
    """The first frame outside torch and this package: whose line the allocation is."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.split(".", 1)[0] not in {"torch", "backproof_target"}:
            return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return "an unknown line"


def describe(tensor: Any) -> str:
    shape = "x".join(str(size) for size in tensor.shape) or "scalar"
    return f"{shape} {str(tensor.dtype).removeprefix('torch.')}"


def extent_of(tensor: Any) -> int:
    """Bytes from the first element to the end of the last, gaps of the strides between them included."""
    if tensor.numel() == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))  # noqa: B905 - one length
    return int((last + 1) * tensor.element_size())


class Memory:
    """What is known to be allocated, by storage address."""

    def __init__(self) -> None:
        self._known: dict[int, Allocation] = {}

    def note(self, tensor: Any, made_by: str = "") -> Allocation:
        """Remember the storage of a tensor; with ``made_by`` it was allocated by that call just now."""
        storage = tensor.untyped_storage()
        low = int(storage.data_ptr())
        if not made_by and low in self._known and self._known[low].alive():
            return self._known[low]
        label = f"{made_by} {describe(tensor)} of {_find_caller()}" if made_by else f"tensor {describe(tensor)}"
        high = low + int(storage.nbytes())
        return self.adopt(Allocation(label=label, low=low, high=high, storage=StorageWeakRef(storage)))

    def adopt(self, allocation: Allocation) -> Allocation:
        """Take over an allocation: a captured graph's memory outlives the device that it was captured on."""
        self._known[allocation.low] = allocation
        return allocation

    def owner_of(self, tensor: Any) -> str:
        known = self._known.get(int(tensor.untyped_storage().data_ptr()))
        if known is None or not known.alive():
            return f"tensor {describe(tensor)}"
        return known.label if describe(tensor) in known.label else f"view {describe(tensor)} of {known.label}"

    def view_of(self, tensor: Any, argument: str) -> View:
        low = int(tensor.data_ptr())
        rows = tensor.stride(0) if tensor.dim() else 1
        return View(
            argument=argument,
            owner=self.owner_of(tensor),
            low=low,
            high=low + extent_of(tensor),
            row_bytes=int(rows) * int(tensor.element_size()),
        )

    def holds(self, low: int, high: int) -> bool:
        """Whether [low, high) lies inside one allocation that is alive."""
        return any(item.low <= low and high <= item.high and item.alive() for item in self._known.values())
