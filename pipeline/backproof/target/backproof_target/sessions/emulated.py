"""The emulated device: CPU torch with a memory model, Triton's interpreter, and stand-ins for what a device host has."""

from __future__ import annotations

import os
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof_target import kit_operators, result
from backproof_target.operator_build import Build, describe_build
from backproof_target.sessions import NotReady

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof_target.kit_operators import KitOperators
    from backproof_target.request import Request
    from backproof_target.sessions import OpenDevice, Setting


def prepare(setting: Setting) -> OpenDevice:
    """Put the memory model under torch and Triton, and the kit's stand-ins into the import system."""
    # Triton chooses between compiling and interpreting when a kernel is decorated.
    os.environ["TRITON_INTERPRET"] = "1"
    _prepare_torch()
    kit = _load_operators(setting.request)
    _guard_kernels(setting)
    from backproof_target import emulator, stand_ins
    from backproof_target.tensor_mode import DeviceMode

    stand_ins.install(kit.modules, kit.skeletons, setting.request.files)
    source = _find_source(setting.request)
    said = [describe_build(source)] if source else []
    setting.answer.update(model=kit.record(), limits=[*kit.limits, *said])

    @contextmanager
    def open_device() -> Iterator[Any]:
        device = emulator.Emulator(model=kit.model, options=kit.options, source=source, kind=setting.request.device)
        with emulator.present(device), DeviceMode():
            yield device

    return open_device


def _prepare_torch() -> None:
    try:
        import torch
        import torch.utils.deterministic
    except ImportError as missing:
        raise NotReady("no-torch", f"torch cannot be imported in the target interpreter: {missing}") from missing
    # A net under poison.py: memory that is allocated where its hook does not see it is at least not a lucky zero. Not
    # through torch.use_deterministic_algorithms: that imports torch's compiler, which takes longer than all the rest.
    torch._C._set_deterministic_algorithms(True, warn_only=True)  # noqa: FBT003
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.set_num_threads(1)  # the tensors are small, the sums are the same each time, and arms may run side by side


def _find_source(request: Request) -> Build | None:
    asked = request.operators
    return Build(source=Path(asked.source), cache=Path(asked.cache)) if asked and asked.source else None


def _load_operators(request: Request) -> KitOperators:
    if request.operators is None:
        raise NotReady("request", "an emulated device needs the table 'operators'")
    try:
        return kit_operators.load_operators(request.operators)
    except Exception as error:
        raise NotReady("operators", result.bound_text(traceback.format_exc(), result.DETAIL)) from error


def _guard_kernels(setting: Setting) -> None:
    """A target without Triton has no kernels to guard."""
    try:
        import triton  # noqa: F401
    except ImportError:
        return
    from backproof_target.triton_guard import KernelGuard

    KernelGuard(setting.log, setting.reach).install()
