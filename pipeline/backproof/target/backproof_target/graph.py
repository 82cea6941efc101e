"""Graph capture and replay: the tensor operations and launches of a function, put on a tape.

A replay runs the tape into the same tensors without running the function's Python: addresses are static, contents are
not. Tensors that were allocated without being written are poisoned again at each replay, for a graph's pool gives no
promise about what is left in it. Views are not run again: they are addresses, and addresses are static.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from backproof_target.faults import HostReadInCapture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Operations whose answer the host needs before it can go on (a value, or a shape that depends on values).
_HOST_ANSWERS = ("_local_scalar_dense", "nonzero", "equal", "masked_select", "_unique2", "unique_dim", "is_nonzero")
# Methods that read a CPU tensor without an operation that could be seen: on a device they are copies to the host.
_HOST_METHODS = ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__", "__array__")


def refuse(name: str) -> None:
    raise HostReadInCapture(f"'{name}' reads a value on the host while a graph is being captured")


def needs_host(function: Any) -> bool:
    return str(function).split(".")[1] in _HOST_ANSWERS


def _list_tensors(tree: Any) -> list[Any]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def storages_of(tree: Any) -> set[int]:
    return {int(tensor.untyped_storage().data_ptr()) for tensor in _list_tensors(tree)}


@dataclass
class Tape:
    """The steps of a captured function, in order."""

    steps: list[Callable[[], None]] = field(default_factory=list)

    def add(self, function: Any, inputs: tuple[Any, dict[str, Any]], output: Any) -> None:
        """Record one tensor operation; its results are copied into the tensors that it gave the first time."""
        args, kwargs = inputs
        given = storages_of((args, kwargs))
        fresh = [tensor for tensor in _list_tensors(output) if int(tensor.untyped_storage().data_ptr()) not in given]
        if not fresh and not function._schema.is_mutable:
            return

        def step() -> None:
            again = _list_tensors(function(*args, **kwargs))
            for kept, made in zip(_list_tensors(output), again):  # noqa: B905 - Python 3.9 syntax is not needed, equal by nature
                if any(kept is item for item in fresh):
                    kept.copy_(made)

        self.steps.append(step)

    def call(self, step: Callable[[], None]) -> None:
        """Record a step that is opaque: a launch, or poisoning fresh memory."""
        self.steps.append(step)

    def replay(self) -> None:
        for step in self.steps:
            step()


class _HostMethods(TorchFunctionMode):  # type: ignore[misc] # torch is not installed where types are checked
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from backproof_target.emulator import current  # the two know each other; here it is late enough

        device = current()
        name = getattr(func, "__name__", "")
        if device is not None and not device.inside and name in _HOST_METHODS:
            refuse(f"Tensor.{name}")
        return func(*args, **(kwargs or {}))


@contextmanager
def no_host_reads() -> Iterator[None]:
    with _HostMethods():
        yield
