"""The plain interpreter: what a check asks of any device, with no device there.

Standard library only: a target without torch must not get it, and one with torch only when the check imports it.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from backproof_target.device import Device

if TYPE_CHECKING:
    from backproof_target.sessions import OpenDevice, Setting


def prepare(setting: Setting) -> OpenDevice:
    """Leave the interpreter as the target's users have it."""
    return lambda: nullcontext(Device(setting.request.device))
