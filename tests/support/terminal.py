"""A command in a terminal of its own, with all that it wrote and when."""

from __future__ import annotations

import os
import pty
import select
import struct
import subprocess
import termios
import time
from dataclasses import dataclass
from fcntl import ioctl
from itertools import pairwise
from typing import TYPE_CHECKING

import pyte

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Session:
    """What a terminal of 80 columns and 24 lines got, and what stands on it at the end."""

    code: int
    pieces: tuple[tuple[float, bytes], ...]

    @property
    def screen(self) -> list[str]:
        display = pyte.Screen(80, 24)
        pyte.ByteStream(display).feed(b"".join(data for _, data in self.pieces))
        return [line.rstrip() for line in display.display]

    @property
    def written(self) -> str:
        return b"".join(data for _, data in self.pieces).decode("utf-8", "replace")

    @property
    def longest_silence(self) -> float:
        times = [0.0, *(at for at, _ in self.pieces)]
        return max(after - before for before, after in pairwise(times))


def record_session(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Session:
    """Run the command to its end, with the terminal for all its streams."""
    master, other = pty.openpty()
    ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    whole = {**os.environ, "TERM": "xterm-256color", **(env or {})}
    process = subprocess.Popen(argv, cwd=cwd, env=whole, stdin=other, stdout=other, stderr=other)
    os.close(other)
    begun, pieces = time.monotonic(), []
    while True:
        select.select([master], [], [])
        try:
            data = os.read(master, 65536)
        except OSError:  # Linux: the other side is closed
            break
        if not data:
            break
        pieces.append((time.monotonic() - begun, data))
    os.close(master)
    return Session(code=process.wait(), pieces=tuple(pieces))
