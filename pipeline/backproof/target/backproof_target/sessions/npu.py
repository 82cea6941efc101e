"""A real NPU, through torch_npu."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backproof_target.sessions import NotReady

if TYPE_CHECKING:
    from backproof_target.sessions import OpenDevice, Setting


def prepare(setting: Setting) -> OpenDevice:
    """Find the NPU, and record which kernels are launched on it."""
    try:
        from backproof_target import ascend
    except ImportError as missing:
        raise NotReady("no-device", f"torch_npu cannot be imported: {missing}") from missing
    if not ascend.present():
        raise NotReady("no-device", "torch_npu sees no device")
    ascend.watch_launches(setting.log)
    return partial(ascend.opened, setting.request.device)
