"""The guard in Triton's interpreter: every lane of every load, store and atomic is checked before it touches memory.

The interpreter dereferences real addresses of this process, so a check afterwards would be too late. Where a pointer
came from travels in ``TensorHandle.attr`` through the builder's pointer operations; block pointers and descriptors end
in the masked forms too. A pointer without a known origin (arithmetic on integers) is held against everything that is
known to be allocated.

Read in Triton 3.6's ``runtime/interpreter.py``; the names patched here are the same from 3.2 to 3.9.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from backproof_target.emulator import Emulator, current, present_for
from backproof_target.faults import DeviceFault
from backproof_target.launches import LaunchLog, bound_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof_target.memory import View
    from backproof_target.reach import Reach

_KEY = "backproof.views"
# Builder operations through which a pointer keeps its origin.
_CARRIES = (
    "create_addptr",
    "create_splat",
    "create_unsplat",
    "create_broadcast",
    "create_expand_dims",
    "create_reshape",
    "create_trans",
    "create_bitcast",
    "create_int_to_ptr",
    "create_ptr_to_int",
    "create_select",
    "create_cat",
    "create_join",
)


# Builder operations that move memory: what they do, and where among their arguments pointers and mask stand.
_ACCESSES = {
    "create_masked_load": ("loads", 0, 1),
    "create_masked_store": ("stores", 0, 2),
    "create_atomic_cas": ("exchanges", 0, None),
    "create_atomic_rmw": ("updates", 1, 3),
}


def _list_views(handle: Any) -> tuple[View, ...]:
    views: tuple[View, ...] = getattr(handle, "attr", {}).get(_KEY, ())
    return views


def _carry_views(operation: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(operation)
    def carried(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = operation(self, *args, **kwargs)
        origins = [views for arg in args if (views := _list_views(arg))]
        if origins:
            result.attr[_KEY] = origins[0] if len(origins) == 1 else tuple(dict.fromkeys(sum(origins, ())))
        return result

    return carried


def _carry_materialized(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Block pointers and descriptors make their addresses from a base."""

    @wraps(operation)
    def carried(self: Any, *args: Any) -> Any:
        pointers, masks = operation(self, *args)
        if views := _list_views(self.base):
            pointers.attr[_KEY] = views
        return pointers, masks

    return carried


def _is_inside(addresses: Any, size: int, views: tuple[View, ...]) -> Any:
    """Which addresses lie inside one of the views."""
    good = np.zeros(addresses.shape, dtype=bool)
    for view in views:
        # Compared without a subtraction: the numbers are unsigned and would wrap.
        good |= (addresses >= np.uint64(view.low)) & (addresses + np.uint64(size) <= np.uint64(view.high))
    return good


def _check_access(builder: Any, pointers: Any, mask: Any, does: str) -> Any:
    """Refuse a lane outside; return the mask as booleans.

    As booleans because Triton 3.9's interpreter refuses the integer mask that ``scalar_bool & vector_bool`` gives.
    """
    device = current()
    raw = mask.data if hasattr(mask, "dtype") and hasattr(mask, "attr") else mask
    lanes = np.broadcast_to(np.asarray(raw).astype(bool), pointers.data.shape)
    if device is None:
        return lanes
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    wanted = pointers.data[lanes]
    views = _list_views(pointers)
    bad = wanted[~_is_inside(wanted, size, views)] if wanted.size else wanted
    if bad.size:
        _refuse_access(device, int(builder.grid_idx[0]), [int(item) for item in bad], size, views, does=does)
    return lanes


def _refuse_access(
    device: Emulator, program: int, bad: list[int], size: int, views: tuple[View, ...], *, does: str
) -> None:
    if views:
        # The lowest address tells most: an index that is negative, or the first one past the end.
        device.out_of_range(views[0], row=program, address=_as_signed(min(bad)), size=size, does=does)
    unknown = next((item for item in bad if not device.memory.holds(item, item + size)), None)
    if unknown is not None:
        device.unknown_pointer(row=program, size=size, does=does)


def _as_signed(address: int) -> int:
    return address - (1 << 64) if address >= 1 << 63 else address


def _guard_access(operation: Any, handle: Any, does: str, pointer: int, mask: int | None) -> Callable[..., Any]:
    """Check the lanes of an operation, given the places of its pointers and its mask; without a mask all are wanted."""
    from triton.language import int1

    @wraps(operation)
    def guarded(self: Any, *args: Any, **named: Any) -> Any:
        lanes = _check_access(self, args[pointer], True if mask is None else args[mask], does)
        if mask is not None:
            args = (*args[:mask], handle(lanes, int1), *args[mask + 1 :])
        return operation(self, *args, **named)

    return guarded


def _no_overflow_asserts(interpreter: Any) -> None:
    """The interpreter checks each integer operation for overflow in a wider type, which doubles its run time.

    A compiled kernel has no such check; an address that comes out of a wrapped integer is refused by the guard.
    """
    options = interpreter.interpreter_builder.options
    if hasattr(options, "sanitize_overflow"):
        interpreter.interpreter_builder.options = replace(options, sanitize_overflow=False)


def _scalar_index(patch: Callable[..., None]) -> Callable[..., None]:
    """Loop bounds that are Triton scalars: they are arrays of one element, which numpy 2.4 no longer turns into ints."""

    @wraps(patch)
    def patched(tensor: Any, *scope: Any) -> None:
        patch(tensor, *scope)
        tensor.__index__ = lambda self: int(self.handle.data.item())

    return patched


class KernelGuard:
    """Installed once per process; it serves whichever device is present."""

    def __init__(self, log: LaunchLog, reach: Reach) -> None:
        self._log = log
        self._reach = reach.of_launch
        self._names: dict[int, str] = {}
        self._patched: set[int] = set()

    def install(self) -> None:
        from triton.runtime import interpreter

        builder = interpreter.InterpreterBuilder
        for name in _CARRIES:
            if hasattr(builder, name):
                setattr(builder, name, _carry_views(getattr(builder, name)))
        for pointer in ("BlockPointerHandle", "TensorDescHandle"):
            if hasattr(interpreter, pointer):
                kind = getattr(interpreter, pointer)
                kind.materialize_pointers = _carry_materialized(kind.materialize_pointers)
        for name, access in _ACCESSES.items():
            setattr(builder, name, _guard_access(getattr(builder, name), interpreter.TensorHandle, *access))
        _no_overflow_asserts(interpreter)
        interpreter._patch_lang = self._patch_once(interpreter._patch_lang)
        interpreter._patch_lang_tensor = _scalar_index(interpreter._patch_lang_tensor)
        interpreter._implicit_cvt = self._patch_origin(interpreter._implicit_cvt)
        interpreter.InterpretedFunction.run = self._patch_launch(interpreter.InterpretedFunction.run)

    def _patch_once(self, patch: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The interpreter patches Triton's language again at each call of a device function: once a launch will do."""

        def patched(function: Any) -> Any:
            modules = {id(value) for value in function.__globals__.values() if isinstance(value, ModuleType)}
            if self._patched >= modules:
                return None
            self._patched |= modules
            return patch(function)

        return patched

    def _patch_origin(self, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """A tensor argument becomes a pointer: from here on it carries the view that it was."""

        def converted(argument: Any) -> Any:
            result = convert(argument)
            device = current()
            if device is not None and hasattr(argument, "data_ptr"):
                name = self._names.get(int(argument.data_ptr()), "")
                result.handle.attr[_KEY] = (device.memory.view_of(argument, name),)
            return result

        return converted

    def _patch_launch(self, run: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(run)
        def launched(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            if kwargs.get("warmup"):
                return None
            device = present_for(kernel.fn.__name__)

            def step() -> None:
                self._run_kernel(kernel, run, args, kwargs)

            step()
            if device.tape is not None and not device.inside:
                device.tape.call(step)
            return None

        return launched

    def _run_kernel(self, kernel: Any, run: Callable[..., Any], args: Any, kwargs: Any) -> None:
        device = present_for(kernel.fn.__name__)
        bound = bound_arguments(kernel.fn, args, kwargs)
        self._log.add(kernel.fn, bound)
        before = len(device.faults)
        with device.task("kernel", kernel.fn.__name__):
            self._names = {int(value.data_ptr()): name for name, value in bound.items() if hasattr(value, "data_ptr")}
            for value in bound.values():
                if hasattr(value, "untyped_storage"):
                    device.memory.note(value)
            self._patched = set()
            try:
                with self._reach(kernel.fn, bound):
                    run(kernel, *args, **kwargs)
            except Exception as error:
                # The interpreter wraps what was raised as the text of its repr: the fault itself is on the device.
                if len(device.faults) > before:
                    raise DeviceFault(device.faults[-1]) from error
                raise
