"""What a kit's ``operators.py`` builds its CPU references from.

A reference is a plain function whose first parameter is the call. It must move rows through the call, never through
Python indexing: ``tensor[-1]`` is the last row in Python and an address before the buffer on the device.

    @operator("their.module.scale_rows")
    def scale_rows(call: Call, x, indices):
        y = call.allocate_like(x)
        for row, index in enumerate(call.integers(indices)):
            y[row] = 2 * call.load(x, "x", index=index, row=row)
        return y
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch

from backproof_target import poison
from backproof_target.emulator import Emulator, present_for
from backproof_target.faults import SILENT, Unmodelled
from backproof_target.graph import storages_of
from backproof_target.operator_process import KINDS, Finding
from backproof_target.operator_source import SourceOperator, launch_source

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Call", "SourceOperator", "Unmodelled", "operator"]


@dataclass(frozen=True)
class Call:
    """One launch of an operator on the device of the running test."""

    device: Emulator
    name: str

    @property
    def model(self) -> str:
        return str(self.device.model)

    def option(self, name: str) -> str:
        return str(self.device.options[name])

    def integers(self, tensor: Any) -> list[int]:
        """Index metadata as the operator reads it on the device (not a host read)."""
        return [int(value) for value in tensor.tolist()]

    def allocate_like(self, tensor: Any) -> Any:
        """The operator's own memory: nobody has written it yet."""
        fresh = torch.empty_like(tensor)
        poison.fill(fresh)
        self.device.memory.note(fresh, f"output of {self.name}")
        return fresh

    def load(self, tensor: Any, argument: str, *, index: int, row: int) -> Any:
        """One row to compute from: in bounds or a fault, and flagged when nobody wrote it."""
        found = self._bound_text(tensor, argument, index, row, "loads")
        if poison.any_in(found):
            self.device.silent(tensor, engine="operator", name=self.name, argument=argument, row=row, index=index)
        return found.clone()

    def store(self, tensor: Any, argument: str, values: Any, *, index: int, row: int) -> None:
        self._bound_text(tensor, argument, index, row, "stores").copy_(values)

    def run_source(self, operator: SourceOperator, tensors: dict[str, Any], attributes: list[int]) -> None:
        """Run the operator's own source on these tensors; what it finds are faults of this launch.

        Raises:
            Unmodelled: the source is not at hand, does not compile, or crashes.
            HostRefusal: its host refuses the call.
        """
        if self.device.source is None:
            raise Unmodelled(f"the source of {self.name} is not at hand: name it with --operator-source")
        try:
            launched = launch_source(self.device.source, operator, tensors, attributes)
        except TimeoutError as error:
            self.device.stop("hang", row=None, text=str(error))
        for finding in launched.findings:
            self._report_finding(finding, tensors)

    def _report_finding(self, finding: Finding, tensors: dict[str, Any]) -> None:
        kind, argument = KINDS[finding.kind], finding.tensor.decode()
        text = (
            f"{finding.call.decode()} at {finding.file.decode()}:{finding.line} on core {finding.core}: "
            f"{finding.text.decode('utf-8', 'replace')}"
        )
        tensor = tensors.get(argument)
        view = None if tensor is None else self.device.memory.view_of(tensor, argument)
        place = {"view": view, "index": finding.row, "offset": finding.offset} if view else {}
        if kind != SILENT:
            self.device.stop(kind, row=None, text=f"{argument} row {finding.row}: {text}" if view else text, **place)
        self.device.note_fault(kind, engine="operator", name=self.name, row=None, text=text, **place)

    def note(self, **facts: Any) -> None:
        """What the operator was handed, for checks that look at the boundary."""
        self.device.notes.append({"operator": self.name, **facts})

    def _bound_text(self, tensor: Any, argument: str, index: int, row: int, does: str) -> Any:
        if 0 <= index < tensor.shape[0]:
            return tensor[index]
        view = self.device.memory.view_of(tensor, argument)
        size = int(tensor[:0].new_empty(tensor.shape[1:]).numel() * tensor.element_size())
        return self.device.out_of_range(view, row=row, address=view.low + index * view.row_bytes, size=size, does=does)


def operator(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Turn a reference into a launch: counted, refused in an aborted context, recorded in a capture."""

    def decorate(reference: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(reference)
        def launch(*args: Any, **kwargs: Any) -> Any:
            def run_model() -> Any:
                device = present_for(name)
                with device.task("operator", name):
                    return reference(Call(device, name), *args, **kwargs)

            result = run_model()
            device = present_for(name)
            if device.tape is not None and not device.inside:
                own = isinstance(result, torch.Tensor) and not storages_of(result) & storages_of((args, kwargs))
                # A replay calls the operator with the same tensors and puts its answer where it was the first time.
                device.tape.call(lambda: result.copy_(run_model()) if own else run_model())
            return result

        return launch

    return decorate
