"""The tie to whoever asked: this process does not outlive it. Standard library only."""

from __future__ import annotations

import contextlib
import ctypes
import signal

_PR_SET_PDEATHSIG = 1


def die_with_caller() -> None:
    """Whoever asked is gone: nobody will read the result, and a device must not stay busy (prctl(2), Linux only)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
