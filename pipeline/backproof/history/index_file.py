"""The file of an index in the user's cache: one that is damaged is made again, and where there can be none, memory serves."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_WAIT = 120.0
"""Seconds that a command waits for another one that fills the same index."""


def locate_index(folder: str, key: Sequence[str]) -> Path:
    """Return the file of what a key names, such as a repository and a version of what is written."""
    name = hashlib.sha256(chr(0).join(key).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return user_cache_path("backproof") / folder / f"{name}.sqlite"


def open_index_file(path: Path, fill: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    """Open an index that `fill` brings up to date."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _fill(sqlite3.connect(path, timeout=_WAIT), fill)
    except (sqlite3.OperationalError, OSError):
        pass  # another command has it for too long, or the disk is full or not ours: the file is left as it is
    except sqlite3.DatabaseError:
        # Damaged: the next command starts it anew, this one goes without.
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return _fill(sqlite3.connect(":memory:"), fill)


def _fill(database: sqlite3.Connection, fill: Callable[[sqlite3.Connection], None]) -> sqlite3.Connection:
    try:
        fill(database)
    except BaseException:
        database.close()
        raise
    return database
