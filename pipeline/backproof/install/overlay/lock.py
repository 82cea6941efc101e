"""One owner per site-packages: a lock on the folder itself.

It leaves no file behind, the kernel releases it when its owner is killed, and it works between users.
"""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

from backproof.core.errors import HostError, PlanError

if TYPE_CHECKING:
    from pathlib import Path


def acquire_lock(site: Path) -> int | None:
    """Return the descriptor of the lock; None when a live process holds it.

    Raises:
        PlanError: there is no such folder.
        HostError: the file system has no such locks.
    """
    try:
        handle = os.open(site, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise PlanError(
            f"{site}: not a readable folder",
            why=str(error.strerror),
            next_step="name an interpreter whose site-packages exist",
        ) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return None
        raise HostError(
            f"{site}: cannot be locked",
            why=f"its file system refuses locks on a folder ({error.strerror})",
            next_step="use an environment on a local disk",
        ) from error
    return handle


def release_lock(handle: int) -> None:
    os.close(handle)
