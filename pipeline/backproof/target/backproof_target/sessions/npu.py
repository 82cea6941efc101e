"""A real NPU, through torch_npu."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from backproof_target.sessions import NotReady

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from backproof_target.launches import LaunchLog
    from backproof_target.reach import Reach
    from backproof_target.request import Request


def prepare(
    request: Request, answer: dict[str, Any], log: LaunchLog, reach: Reach
) -> Callable[[], AbstractContextManager[Any]]:
    """Find the NPU, and record which kernels are launched on it."""
    del answer, reach
    try:
        from backproof_target import ascend
    except ImportError as missing:
        raise NotReady("no-device", f"torch_npu cannot be imported: {missing}") from missing
    if not ascend.present():
        raise NotReady("no-device", "torch_npu sees no device")
    ascend.watch_launches(log)
    return partial(ascend.opened, request.device)
