"""The plain interpreter: what a check asks of any device, with no device there.

Standard library only: a target without torch must not get it, and one with torch only when the check imports it.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from backproof_target.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from backproof_target.launches import LaunchLog
    from backproof_target.reach import Reach
    from backproof_target.request import Request


def prepare(
    request: Request, answer: dict[str, Any], log: LaunchLog, reach: Reach
) -> Callable[[], AbstractContextManager[Device]]:
    """Leave the interpreter as the target's users have it."""
    del answer, log, reach
    return lambda: nullcontext(Device(request.device))
