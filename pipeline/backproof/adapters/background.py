"""The boundary to a background process: neither it nor what it started outlives the block, or Backproof itself."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters import proc
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningProcess:
    """A background process; both its streams go to `log`."""

    argv: tuple[str, ...]
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def command(self) -> str:
        return proc.format_command(self.argv)

    @property
    def code(self) -> int | None:
        """The exit code (negative = signal); None while it runs."""
        return self.process.poll()


@contextmanager
def start_process(
    argv: Sequence[str], *, log: Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, grace: float = 20
) -> Iterator[RunningProcess]:
    """Keep a process during the block; afterwards it is gone with all that it started.

    Raises:
        HostError: it cannot be started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as stream:
        try:
            process = proc.start_session(argv, cwd=cwd, env=env, streams=(subprocess.DEVNULL, stream, stream))
        except OSError as error:
            raise HostError(
                f"{argv[0]} cannot be started",
                why=error.strerror or str(error),
                next_step="check the program's name and path",
            ) from error
    guard = _start_guard(process.pid, grace)
    try:
        yield RunningProcess(argv=tuple(argv), process=process, log=log)
    finally:
        _stop_process(process, grace)
        # Before the group is gone: its number may be reused afterwards.
        guard.communicate(b"done")


_GUARD = """
import os, signal, sys, time
if sys.stdin.buffer.read() != b"done":
    for number, pause in ((signal.SIGTERM, float(sys.argv[2])), (signal.SIGKILL, 0)):
        try:
            os.killpg(int(sys.argv[1]), number)
        except ProcessLookupError:
            break
        limit = time.monotonic() + pause
        while time.monotonic() < limit:
            time.sleep(0.1)
            try:
                os.killpg(int(sys.argv[1]), 0)
            except ProcessLookupError:
                break
"""


def _start_guard(group: int, grace: float) -> subprocess.Popen[bytes]:
    """Start a process that ends the group when Backproof is killed and its pipe closes: a service would hold its device."""
    argv = [sys.executable, "-S", "-E", "-c", _GUARD, str(group), str(grace)]
    return proc.start_session(argv, streams=(subprocess.PIPE, subprocess.DEVNULL, subprocess.DEVNULL))


def _stop_process(process: subprocess.Popen[bytes], grace: float) -> None:
    """Terminate, for a killed service can leave the device's memory allocated; then kill what is left of the group."""
    if process.poll() is None:
        proc.signal_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace)
    proc.kill_group(process)
