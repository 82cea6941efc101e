"""The same device interface over a real NPU, through torch_npu.

It cannot be run where it was written: it follows the calls that the target project's own NPU tests make
(``torch.npu.NPUGraph``, ``torch.npu.graph``, ``torch.npu.synchronize``). There is no memory model here: a fault is an
exception of the runtime, and uninitialised memory is whatever was there.

After a fault the runtime refuses everything in this process: the tests that follow are skipped, with the first fault as the
reason. A caller that wants each case measured runs them one process at a time.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
import torch_npu  # noqa: F401 - it registers torch.npu

from backproof_target.device import CapturedGraph, Device
from backproof_target.faults import OUT_OF_RANGE, SECONDARY, Fault
from backproof_target.launches import LaunchLog, bound_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Words of the runtime for a transfer outside memory. Anything else is a fault of kind "device": its code says what.
_OUT_OF_RANGE_WORDS = ("MTE", "invalid address", "invalid GM", "out of range")

_first_fault: list[Fault] = []


def present() -> bool:
    return bool(torch.npu.is_available()) and int(torch.npu.device_count()) > 0


class Ascend(Device):
    """One test's view of the NPU."""

    def put(self, tensor: Any) -> Any:
        """The storage is moved whole, so that a strided view keeps its gaps."""
        whole = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage()).npu()
        return whole.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())

    def look(self, tensor: Any) -> Any:
        self.synchronize()
        return tensor.detach().cpu().clone()

    def read(self, tensor: Any, what: str, rows: Sequence[int] | None = None) -> Any:  # noqa: ARG002 - the emulator's
        copy = self.look(tensor)
        return copy if rows is None else copy[list(rows)]

    def capture(self, function: Callable[[], Any]) -> CapturedGraph:
        """As the target project's tests do: once on a side stream, so that lazy set-up is not captured, then for real."""
        stream = torch.npu.Stream()
        with torch.npu.stream(stream):
            function()
        torch.npu.current_stream().wait_stream(stream)
        torch.npu.synchronize()
        graph = torch.npu.NPUGraph()
        with torch.npu.graph(graph):
            result = function()
        return CapturedGraph(replay=graph.replay, result=result)

    def synchronize(self) -> None:
        try:
            torch.npu.synchronize()
        except RuntimeError as error:
            self.faults.append(_fault(str(error)))
            _first_fault.extend(self.faults[:1])
            raise

    def verdict(self) -> None:
        """A test has not passed before the device has finished its work."""
        self.synchronize()


def _fault(text: str) -> Fault:
    kind = (
        SECONDARY if _first_fault else OUT_OF_RANGE if any(word in text for word in _OUT_OF_RANGE_WORDS) else "device"
    )
    return Fault(kind=kind, task=0, engine="host", name="synchronize", text=text[:2000])


@contextmanager
def opened(kind: str) -> Iterator[Ascend]:
    import pytest

    if _first_fault:
        pytest.skip(f"the context is aborted; the first fault was: {_first_fault[0].text[:300]}")
    yield Ascend(kind)


def watch_launches(log: LaunchLog) -> None:
    """Kernels are compiled here: put down which were launched before they are."""
    try:
        from triton.runtime.jit import JITFunction
    except ImportError:
        return
    run = JITFunction.run

    def watched(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        log.add(kernel.fn, bound_arguments(kernel.fn, args, kwargs))
        return run(kernel, *args, **kwargs)

    JITFunction.run = watched
