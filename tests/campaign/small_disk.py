"""The run folder on a real file system that is too small: git and the target's interpreter meet the full disk, too."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import attempt
from attempt import Bench, Troubles

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DISK = "disk"
PARTS = (2, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
"""How much of what a run needs there is, in percent."""


def needed(made: Bench) -> int:
    """Bytes that a whole run takes on such a disk, which counts in pages."""
    files = [each.lstat().st_size for each in made.job.run_folder.rglob("*") if not each.is_dir()]
    return sum(-(-size // 4096) * 4096 for size in files) + 4096 * len(files) // 4


@contextmanager
def mounted(folder: Path) -> Iterator[str]:
    """A file system of its own; what keeps it from being made, or nothing."""
    folder.mkdir(exist_ok=True)
    done = _mount("-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder))
    try:
        yield done
    finally:
        if not done:
            subprocess.run(["umount", str(folder)], check=True)


def tried(made: Bench, part: int, whole: int) -> Troubles:
    """A run on a disk with a part of the space; then the space is there, and the same command runs again."""
    folder = made.job.folder / DISK
    on_disk = Bench(job=replace(made.job, out=f"{DISK}/run"), before=made.before, env=made.env)
    attempt.fresh(on_disk)
    _mount("-o", f"remount,size={max(whole * part // 100, 4096)}", str(folder))
    troubles = Troubles()
    code = attempt.command(on_disk, on_disk.job.arguments())
    troubles.unless(code in attempt.TOLD, f"ended with {code}: {attempt.tail(on_disk)}")
    _mount("-o", "remount,size=64m", str(folder))
    attempt.recovers(on_disk, on_disk.job.arguments(), troubles)
    return troubles


def _mount(*args: str) -> str:
    done = subprocess.run(["mount", *args], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""
