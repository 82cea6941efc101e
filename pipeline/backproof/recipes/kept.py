"""What is in the cache of environments, and what of it may go."""

from __future__ import annotations

import json
import shutil
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from backproof.core.model import Record
from backproof.recipes.cache import COMPLETE, environments_folder

if TYPE_CHECKING:
    from pathlib import Path

_DAY = 86_400


class KeptEnvironment(Record):
    """One environment. `origin` is where its recipe came from; empty for one that was never finished."""

    name: str
    origin: str
    used: str
    megabytes: int


def list_environments() -> list[KeptEnvironment]:
    """Return all environments, the one used last first."""
    folders = sorted(_list_folders(), key=_read_use, reverse=True)
    return [
        KeptEnvironment(
            name=folder.name,
            origin=_read_origin(folder),
            used=datetime.fromtimestamp(_read_use(folder), UTC).date().isoformat(),
            megabytes=sum(path.lstat().st_size for path in folder.rglob("*")) >> 20,
        )
        for folder in folders
    ]


def prune_environments(*, days: float) -> list[str]:
    """Remove what no proof used for so many days, and what was never finished; one that is being made stays."""
    limit = time.time() - days * _DAY
    return [folder.name for folder in _list_folders() if _is_old(folder, limit) and _remove(folder)]


def _list_folders() -> list[Path]:
    return sorted(folder for folder in environments_folder().glob("*-*") if folder.is_dir())


def _is_old(folder: Path, limit: float) -> bool:
    return not (folder / COMPLETE).exists() or _read_use(folder) < limit


def _read_use(folder: Path) -> float:
    """Return when it was used last: each proof touches its record."""
    record = folder / COMPLETE
    return (record if record.exists() else folder).stat().st_mtime


def _read_origin(folder: Path) -> str:
    try:
        return str(json.loads((folder / COMPLETE).read_text(encoding="utf-8"))["origin"])
    except (OSError, ValueError, KeyError):
        return ""


def _remove(folder: Path) -> bool:
    try:
        with FileLock(f"{folder}.lock", timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
    except Timeout:
        return False
    return True
