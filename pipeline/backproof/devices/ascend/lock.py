"""One run per chip: an flock for each chip of the set, taken in one order so that two runs never wait for each other."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@contextmanager
def hold_chips(devices: Iterable[int], *, folder: Path | None = None) -> Iterator[None]:
    """Hold these chips; the kernel lets go when the process ends, however it ends.

    Raises:
        BusyError: another run holds one of them.
    """
    # All users of the host share it; a container with its own /tmp is for `health.find_holders`.
    folder = folder or Path(tempfile.gettempdir()) / "backproof-npu"
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        for device in sorted(set(devices)):
            stack.enter_context(_hold_chip(folder / f"{device}.lock", device))
        yield


@contextmanager
def _hold_chip(path: Path, device: int) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.pread(handle, 200, 0).decode("utf-8", "replace").strip()
            raise BusyError(
                f"chip {device} is held by another run",
                why=f"its lock {path} is held by a live process{f' ({owner})' if owner else ''}",
                next_step="wait for it (--wait SECONDS), or choose other chips with ASCEND_RT_VISIBLE_DEVICES",
            ) from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"pid {os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)
