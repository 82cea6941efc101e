"""The boundary to subprocesses: argv lists, a new environment, a process group that dies with its timeout."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from backproof.core.errors import HostError
from backproof.core.redaction import redact, redact_written

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backproof.adapters.answers import AnswerPipes

KEEP_BYTES = 4 * 1024 * 1024
"""Bytes of each stream that are kept in memory; `tee` keeps all of it on disk."""

_BLOCK = 1 << 20
_KEY_LINES = 200
NOT_FOUND = 127
TIMED_OUT = 124


@dataclass(frozen=True, kw_only=True, slots=True)
class Completed:
    """A process that has ended: exit code (negative = signal), both streams (bounded)."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes

    @property
    def command(self) -> str:
        """The command line, redacted."""
        return format_command(self.argv)

    @property
    def text(self) -> str:
        return self.stdout.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        return self.stderr.decode("utf-8", "replace")

    def require_success(self, what: str, *, next_step: str) -> Completed:
        """Return self, or raise HostError with the command, its code and the tail of what it printed."""
        if self.code == 0:
            return self
        output = redact((self.error_text.strip() or self.text.strip())[-2000:])
        raise HostError(what, why=f"`{self.command}` ended with code {self.code}: {output}", next_step=next_step)


def format_command(argv: Sequence[str]) -> str:
    return redact(shlex.join(argv))


def run_process(
    argv: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout: float = 600,
    tee: Path | None = None,
    keep: int = KEEP_BYTES,
    answers: AnswerPipes | None = None,
) -> Completed:
    """Run a command to its end; a missing program is a result with code 127.

    Args:
        argv: the program and its arguments; never a shell line.
        cwd: its folder.
        env: its whole environment; that of this process when None.
        stdin: its input.
        timeout: seconds; past it the whole process group is killed and the code is 124.
        tee: a file that receives both streams whole (what the command printed is evidence), without secrets.
        answers: pipes that it writes to, read until it ends.
        keep: bytes of each stream that are kept; a caller that parses a whole listing asks for more.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as source:
        source.write(stdin)
        source.seek(0)
        process = _start_or_none(argv, cwd=cwd, env=env, streams=(source, out, err), answers=answers)
        with answers.read_during() if answers else contextlib.nullcontext():
            code = _wait_for_process(process, err, timeout) if process else NOT_FOUND
        if tee is not None:
            _copy_streams(tee, out, err)
        stdout, stderr = _read_tail(out, keep), _read_tail(err, KEEP_BYTES)
        return Completed(argv=tuple(argv), code=code, stdout=stdout, stderr=stderr)


def start_session(
    argv: Sequence[str],
    *,
    streams: tuple[IO[bytes] | int, IO[bytes] | int, IO[bytes] | int],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    handles: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process with these streams for input, output and errors; `handles` are open in it, too.

    It has a session of its own: one signal reaches the workers that the command started, too.
    """
    source, out, err = streams
    return subprocess.Popen(
        argv, cwd=cwd, env=env, stdin=source, stdout=out, stderr=err, start_new_session=True, pass_fds=handles
    )


def _start_or_none(
    argv: Sequence[str],
    *,
    cwd: Path | None,
    env: Mapping[str, str] | None,
    streams: tuple[IO[bytes], IO[bytes], IO[bytes]],
    answers: AnswerPipes | None,
) -> subprocess.Popen[bytes] | None:
    try:
        return start_session(argv, cwd=cwd, env=env, streams=streams, handles=answers.handles if answers else ())
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        streams[2].write(f"{argv[0]}: {error.strerror}".encode())
        return None


def _wait_for_process(process: subprocess.Popen[bytes], err: IO[bytes], timeout: float) -> int:
    # Not `wait(timeout)`: it sleeps up to 50 ms between looks, which is ten times what most git commands take.
    expired = threading.Event()
    timer = threading.Timer(timeout, _kill_expired, (process, expired))
    timer.daemon = True
    timer.start()
    try:
        code = process.wait()
    finally:
        timer.cancel()
        if process.poll() is None:
            kill_group(process)
    if expired.is_set():
        err.write(f"\nstopped after {timeout:.0f} s".encode())
        return TIMED_OUT
    return code


def _kill_expired(process: subprocess.Popen[bytes], expired: threading.Event) -> None:
    expired.set()
    signal_group(process, signal.SIGKILL)


def signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with all that it started, and reap it."""
    signal_group(process, signal.SIGKILL)
    process.wait()


def _read_tail(stream: IO[bytes], keep: int) -> bytes:
    """Return the last bytes of a stream: errors stand at the end."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - keep))
    return stream.read()


def _copy_streams(path: Path, *streams: IO[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        for stream in streams:
            stream.seek(0)
            while block := _read_lines(stream):
                target.write(
                    redact_written(block.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
                )


@contextlib.contextmanager
def open_room() -> Iterator[Path]:
    """Make a folder for a process of the target, whose name tells neither the run nor the arm."""
    with tempfile.TemporaryDirectory(prefix="check-", ignore_cleanup_errors=True) as room:
        yield Path(room)


def copy_redacted(path: Path, source: Path) -> None:
    """Write what a process left in a file where it stays: without secrets."""
    if source.is_file():
        with source.open("rb") as stream:
            _copy_streams(path, stream)


def _read_lines(stream: IO[bytes]) -> bytes:
    """Read a block that ends with a line, and not inside a private key."""
    block = stream.read(_BLOCK) + stream.readline(_BLOCK)
    for _ in range(_KEY_LINES):
        if block.rfind(b"-----BEGIN ") <= block.rfind(b"-----END "):
            break
        block += stream.readline(_BLOCK)
    return block
