"""The points at which something can go wrong: every change to the file system, every process started, every request sent.

Python tells its audit hooks of each of them, before it happens, and an exception of a hook is the operation's own: no
wrapper has to be kept in step with the code. Stand-ins, marked as such: ENOSPC, EIO and the clock are made here, in the
child process that the campaign forks; signals and the small file system are real.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_CHANGES = {
    "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.chown", "os.utime",
    "os.truncate",
}  # fmt: skip
GROWS = {"open", "os.mkdir", "os.link", "os.symlink"}
"""What a full disk refuses; taking away and renaming need no space."""
OTHER = {"subprocess.Popen", "http.client.send"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_NAMES = re.compile(r"[0-9a-f]{8,64}|\.[\w.-]+?\.[a-z0-9_]{8}\b|(?:tmp|obj)[a-z0-9_]{8}|\d{2,}")


@dataclass(frozen=True, kw_only=True)
class Point:
    """One operation of a run: in which stage, what, on which path (with what is random taken out of it)."""

    stage: str
    event: str
    path: str


@dataclass
class Watch:
    """Counts the points of this process, and lets `fault` happen at one of them."""

    folder: str
    at: tuple[Point, int] | None = None
    fault: Callable[[Watch, str, str], None] | None = None
    points: list[Point] = field(default_factory=list)
    stage: str = "start"
    happened: bool = False
    again: list[str] = field(default_factory=list)
    other: int | None = None
    _inside: bool = False

    def install(self) -> None:
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._inside or (event != "open" and event not in _CHANGES and event not in OTHER):
            return
        path = _subject(event, arguments)
        if path is None or (event not in OTHER and not path.startswith(f"{self.folder}/")):
            return
        self._inside = True
        try:
            self._met(event, path)
        finally:
            self._inside = False

    def _met(self, event: str, path: str) -> None:
        point = Point(stage=self.stage, event=event, path=_NAMES.sub("*", path.removeprefix(self.folder)))
        here = (point, self.points.count(point))
        self.points.append(point)
        if self.fault and (here == self.at or (self.happened and self.fault is full)):
            self.happened = True
            self.fault(self, event, path)

    def say(self, text: str) -> None:
        if text.startswith("==> "):
            self.stage = text[4:]


def _subject(event: str, arguments: tuple[Any, ...]) -> str | None:
    if event == "open":
        path, _, flags = arguments
        writing = isinstance(flags, int) and flags & _WRITING and isinstance(path, (str, bytes, os.PathLike))
        return os.path.abspath(os.fsdecode(path)) if writing else None  # noqa: PTH100 - a hook must stay cheap
    if event == "subprocess.Popen":
        words = [os.fsdecode(each) for each in arguments[1]]
        return " ".join(os.path.basename(each) for each in words[:1])  # noqa: PTH119
    if event == "http.client.send":
        return bytes(arguments[1]).split(b" ", 1)[0].decode("ascii", "replace")[:10]
    first = arguments[1] if event in {"os.link", "os.rename", "os.symlink"} else arguments[0]
    return os.path.abspath(os.fsdecode(first)) if isinstance(first, (str, bytes, os.PathLike)) else None  # noqa: PTH100


def killed(_watch: Watch, _event: str, _path: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def terminated(_watch: Watch, _event: str, _path: str) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def killed_soon(_watch: Watch, _event: str, _path: str) -> None:
    """While the process that was just started is at work."""
    threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGKILL)).start()


def full(_watch: Watch, event: str, path: str) -> None:
    """A stand-in for a disk that stays full: everything that needs space fails from here on."""
    if event in GROWS:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


def broken(_watch: Watch, event: str, path: str) -> None:
    """A stand-in for a disk with one bad moment."""
    if event not in OTHER:
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)


def second_run(watch: Watch, _event: str, _path: str) -> None:
    """The same command in the same run folder, from its start to its end, while this one stands still."""
    _another(watch, watch.again)


def second_run_elsewhere(watch: Watch, _event: str, _path: str) -> None:
    """Another run folder, and the same target."""
    elsewhere = [
        f"{each}-other" if before == "--out" else each
        for before, each in zip(["", *watch.again], watch.again, strict=False)
    ]
    _another(watch, elsewhere)


def _another(watch: Watch, argv: list[str]) -> None:
    program = os.path.join(os.path.dirname(sys.executable), "backproof")  # noqa: PTH118, PTH120
    watch.other = os.spawnve(os.P_WAIT, program, [program, *argv], dict(os.environ))


def stepped_back(_watch: Watch, _event: str, _path: str) -> None:
    """A stand-in for a clock that is set back by a day: the ledger asks one function, and this is what it asks."""
    from backproof.rundir import ledger

    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) - timedelta(days=1)

    vars(ledger)["datetime"] = Clock
