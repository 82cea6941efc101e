"""The emulated device: one instance is one context of one test.

What checks may call is the same on both devices (see ``ascend.py``): put, read, look, observe, capture, synchronize,
``notes`` and ``kind``.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from backproof_target import poison
from backproof_target.device import CapturedGraph, Device
from backproof_target.faults import (
    OUT_OF_RANGE,
    SECONDARY,
    SILENT,
    UNKNOWN_POINTER,
    ContextAborted,
    DeviceFault,
    Fault,
    SilentFault,
    Unmodelled,
)
from backproof_target.graph import Tape, no_host_reads
from backproof_target.memory import Memory, View

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backproof_target.operator_build import Build


class Emulator(Device):
    """Memory, faults and the task counter of one context."""

    def __init__(
        self, *, kind: str, model: str = "", options: dict[str, str] | None = None, source: Build | None = None
    ) -> None:
        super().__init__(kind)
        self.model = model
        self.options = dict(options or {})
        self.source = source
        self.memory = Memory()
        self.tape: Tape | None = None
        self.aborted: Fault | None = None
        self._task = 0
        self._name = ""
        self._engine = ""
        self.inside = False

    # What a check calls

    def put(self, tensor: Any) -> Any:
        """A copy of a host tensor on the device, with the layout that it has."""
        backing = tensor.clone()
        self.memory.note(backing, "put")
        return backing

    def look(self, tensor: Any) -> Any:
        """A host copy, without a word about what is in it."""
        self._alive("look", "host")
        return tensor.detach().clone()

    def read(self, tensor: Any, what: str, rows: Sequence[int] | None = None) -> Any:
        """A host copy of a result, or of some rows of it; rows that nobody wrote are a silent fault."""
        copy = self.look(tensor)
        wanted = range(copy.shape[0]) if rows is None else rows
        for row in wanted:
            if poison.any_in(copy[row]):
                self.silent(tensor, engine="result", name=what, argument="result", row=row, index=row)
        return copy if rows is None else copy[list(rows)]

    def classify(self, tensor: Any) -> str:
        """What a tensor holds, in one word: none, zero, poison, finite, nan or mixed."""
        if not poison.any_in(tensor):
            return super().classify(tensor)
        return "poison" if bool(poison.where(tensor).all()) else "mixed"

    def capture(self, function: Callable[[], Any]) -> CapturedGraph:
        """Record what ``function`` does to its tensors; replaying does it again without running Python."""
        self.tape = tape = Tape()
        try:
            with no_host_reads():
                result = function()
        finally:
            self.tape = None
        return CapturedGraph(replay=tape.replay, result=result)

    def synchronize(self) -> None:
        self._alive("synchronize", "host")

    # What kernels and operators call

    @contextmanager
    def task(self, engine: str, name: str) -> Iterator[int]:
        """One launch: counted, refused in an aborted context, its own torch calls neither poisoned nor recorded."""
        self._alive(name, engine)
        self._task += 1
        outer, self.inside, self._engine, self._name = self.inside, True, engine, name
        try:
            yield self._task
        finally:
            self.inside = outer

    def out_of_range(self, view: View, *, row: int | None, address: int, size: int, does: str) -> NoReturn:
        """Stop: bytes outside the view were about to be moved."""
        index = view.index_of(address)
        side = f"{view.low - address} bytes before" if address < view.low else f"{address - view.low} bytes into"
        self.stop(
            OUT_OF_RANGE,
            view=view,
            row=row,
            index=index,
            offset=address - view.low,
            text=f"{does} {size} bytes of row {index} of '{view.argument}' at {side} an extent of {view.high - view.low} bytes "
            f"({view.owner})",
        )

    def unknown_pointer(self, *, row: int | None, size: int, does: str) -> NoReturn:
        self.stop(UNKNOWN_POINTER, row=row, text=f"{does} {size} bytes at an address of no known allocation")

    def silent(self, tensor: Any, *, engine: str, name: str, argument: str, row: int | None, index: int | None) -> None:
        """Go on, as the device would, but put down that memory which nobody wrote was used."""
        view = self.memory.view_of(tensor, argument)
        text = f"row {row} of the {engine} '{name}' is made of memory that nobody wrote: row {index} of {view.owner}"
        offset = None if index is None else index * view.row_bytes
        self.note_fault(SILENT, text=text, engine=engine, name=name, row=row, index=index, offset=offset, view=view)

    def verdict(self) -> None:
        """Raise for faults that stopped nobody or were swallowed, so that a test which met one is not a pass."""
        if self.faults:
            first = self.faults[0]
            raise SilentFault(first) if first.kind == SILENT else DeviceFault(first)

    def stop(self, kind: str, *, row: int | None, text: str, **place: Any) -> NoReturn:
        """Stop this launch with a fault; `place` is what `note_fault` takes."""
        text = f"task {self._task}: {self._engine} '{self._name}'{'' if row is None else f', row {row},'} {text}"
        fault = self.note_fault(kind, engine=self._engine, name=self._name, row=row, text=text, **place)
        self.aborted = fault
        raise DeviceFault(fault)

    def note_fault(self, kind: str, *, view: View | None = None, **facts: Any) -> Fault:
        """Put a fault down and go on: it stops nobody, but the test has not passed."""
        if view:
            facts.update(argument=view.argument, owner=view.owner, extent=view.high - view.low)
        fault = Fault(kind=kind, task=self._task, **facts)
        self.faults.append(fault)
        return fault

    def _alive(self, name: str, engine: str) -> None:
        """An aborted context refuses everything, as the device's does: what it says then is a secondary error."""
        if self.aborted is None:
            return
        first = self.aborted
        text = f"'{name}' refused, the context is aborted; the first fault is task {first.task}: {first.text}"
        raise ContextAborted(self.note_fault(SECONDARY, engine=engine, name=name, text=text))


# One at a time: tests run one after another in one thread, and a device belongs to one test.
_present: list[Emulator] = []


def current() -> Emulator | None:
    return _present[-1] if _present else None


def present_for(name: str) -> Emulator:
    """The device that a launch goes to. Without one nothing would be checked, so there is no launch either."""
    device = current()
    if device is None:
        raise Unmodelled(f"'{name}' was launched outside a test that asks for the fixture 'device'")
    return device


@contextmanager
def present(device: Emulator) -> Iterator[Emulator]:
    """Make a device the one that launches go to."""
    _present.append(device)
    try:
        yield device
    finally:
        _present.remove(device)
