"""What these tests fetch once and keep: a file in the user's cache, made under a lock, named by what it is made from."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock
from platformdirs import user_cache_path

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE = Path(os.environ.get("BACKPROOF_CONTRACTS") or user_cache_path("backproof") / "contracts")
"""Read at import, before a test gets a home of its own."""


def cached(name: str, key: object, make: Callable[[], str]) -> Path:
    """The file that holds what `make` returned for this key."""
    digest = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
    path = CACHE / f"{name}-{digest}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if not path.exists():
            scratch = Path(f"{path}.part")
            scratch.write_text(make(), encoding="utf-8")
            scratch.replace(path)
    return path
