"""A folder that goes with its block, in memory where Linux has room for it: on ext4 a file costs more than the merge in it."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of ours, for us alone, is made in it
_ROOM = 2**31
"""Bytes that must be free: a survey of 60 commits on 18 branches takes 50 MB. A container has 64 MB by default."""
_PREFIX = "backproof-"
_FRESH = 60.0
"""Seconds in which a folder may not have its lock yet."""


@contextmanager
def open_scratch() -> Iterator[Path]:
    """Make a folder for the time of the block. In memory, those of commands that were killed are removed first."""
    if not _has_room():
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
            yield Path(folder)
        return
    for path in _MEMORY.glob(f"{_PREFIX}*"):
        _remove_abandoned(path)
    with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=_MEMORY) as folder:
        handle = os.open(folder, os.O_RDONLY)
        try:
            _lock(handle)
            yield Path(folder)
        finally:
            os.close(handle)


def _has_room() -> bool:
    return _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _ROOM


def _remove_abandoned(path: Path) -> None:
    """Remove a folder that no process has locked: its owner was killed."""
    with suppress(OSError):
        if path.is_symlink() or path.stat().st_uid != os.getuid() or time.time() - path.stat().st_mtime < _FRESH:
            return
        handle = os.open(path, os.O_RDONLY)
        try:
            _lock(handle)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(handle)


def _lock(handle: int) -> None:
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
