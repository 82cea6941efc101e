"""Finds processes of the target that started before its files changed: they may still run the old code."""

from __future__ import annotations

import os
import shlex
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

_PROC = Path("/proc")
_LONGEST = 160


@dataclass(frozen=True, kw_only=True, slots=True)
class OldProcess:
    """One process: its number, start (seconds since 1970) and redacted command line."""

    pid: int
    started: float
    command: str

    @property
    def since(self) -> str:
        return datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds")


def find_older(when: float, *, prefix: Path, site: Path) -> tuple[OldProcess, ...]:
    """Return the processes of this environment that started before a moment; on Linux only, elsewhere none.

    A process belongs to it by its program (below `prefix`) or by a mapped file (below `site`): a service that renames
    itself still has the libraries of its environment mapped.
    """
    if not (_PROC / "self" / "stat").exists():
        return ()
    family = set(_list_ancestors(os.getpid()))
    processes = (
        _inspect_process(folder, prefix, site)
        for folder in _PROC.iterdir()
        if folder.name.isdigit() and int(folder.name) not in family
    )
    # Start times are in hundredths of a second; a process of the same instant is not older.
    older = (process for process in processes if process and process.started < when - 0.02)
    return tuple(sorted(older, key=lambda process: process.pid))


def _inspect_process(folder: Path, prefix: Path, site: Path) -> OldProcess | None:
    try:
        command = [os.fsdecode(word) for word in (folder / "cmdline").read_bytes().split(b"\0") if word]
        if not command or not (_runs_from(command, prefix) or _maps_files_of(folder, site)):
            return None
        shown = redact(shlex.join(command))
        return OldProcess(pid=int(folder.name), started=_read_start_time(folder), command=shown[:_LONGEST])
    except (OSError, ValueError, IndexError):
        return None  # it ended, or it is another user's


def _runs_from(command: list[str], prefix: Path) -> bool:
    """Return whether it is the interpreter itself, or a console script that the interpreter runs."""
    return any(word.startswith(f"{prefix}{os.sep}") for word in command[:2])


def _maps_files_of(folder: Path, site: Path) -> bool:
    return f" {site}{os.sep}" in (folder / "maps").read_text(encoding="utf-8", errors="replace")


def _read_start_time(folder: Path) -> float:
    # Not `btime` of /proc/stat: it is whole seconds, and a restart right after the change would look older than it.
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return booted + float(_read_stat(folder)[19]) / os.sysconf("SC_CLK_TCK")


def _list_ancestors(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        pid = int(_read_stat(_PROC / str(pid))[1])


def _read_stat(folder: Path) -> list[str]:
    """Return /proc/<pid>/stat from its third field on; the second, in brackets, can hold any text."""
    return (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
