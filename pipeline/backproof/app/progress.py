"""What a person sees while a command works: one live line in a terminal, lines with a clock elsewhere, and no long silence."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Final

from backproof.core.plain_text import escape_line
from backproof.core.ticker import tick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.live import Live
    from rich.text import Text

SILENCE: Final = 8.0
"""Seconds after which a line says that the work goes on."""
_BLINK: Final = 0.25


class Progress:
    """The progress of one command: `say` is what happens now, and it stands until the next."""

    def __init__(
        self, write: Callable[[str], None], *, live: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write = write
        self._live = live
        self._clock = clock
        self._begun = self._last = clock()
        self._stage = self._text = ""
        self._shown: Live | None = None
        self._lock = Lock()
        self.expected: float | None = None
        """Seconds that the same took before."""

    def say(self, text: str) -> None:
        text = escape_line(text)
        self._stage = text[4:] if text.startswith("==> ") else self._stage
        self._text, self._last = text.strip(), self._clock()
        if self._live:
            self._start_line()
        else:
            self._write(f"[{_format_clock(self._elapsed)}] {text}")

    def pause(self) -> None:
        """Take the live line away: something else is printed."""
        with self._lock:
            if self._shown is not None:
                self._shown.stop()
                self._shown = None

    def break_silence(self) -> None:
        """Say that the work goes on, where nothing was said for long."""
        if not self._live and self._clock() - self._last >= SILENCE:
            self._last = self._clock()
            self._write(f"[{_format_clock(self._elapsed)}] still at work{f': {self._text}' if self._text else ''}")
        elif self._live and self._shown is None and self._elapsed >= SILENCE:
            self._start_line()

    @property
    def _elapsed(self) -> float:
        return self._clock() - self._begun

    def _start_line(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - 20 ms that a short command does not spend
        from rich.live import Live  # noqa: PLC0415

        with self._lock:
            if self._shown is None:
                self._shown = Live(console=Console(stderr=True), transient=True, get_renderable=self._render)
                self._shown.start()

    def _render(self) -> Text:
        from rich.text import Text  # noqa: PLC0415

        of = f" of about {_format_clock(self.expected)}" if self.expected else ""
        where = "" if self._text.startswith("==> ") or not self._stage else f"{self._stage}: "
        line = f"{_format_clock(self._elapsed)}{of}  {where}{self._text.removeprefix('==> ') or 'at work'}"
        return Text(line, no_wrap=True, overflow="ellipsis")


def _format_clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02}:{rest:02}"


_progress: Progress | None = None


def say(text: str) -> None:
    """Print progress on stderr; stdout is for results."""
    (_progress or Progress(_write_line, live=False)).say(text)


def pause() -> None:
    """Take a live line away before something is printed."""
    if _progress:
        _progress.pause()


def expect(seconds: float | None) -> None:
    """Tell how long the same took before."""
    if _progress:
        _progress.expected = seconds


@contextmanager
def shown_progress() -> Iterator[None]:
    """Show the progress of the command that runs inside."""
    global _progress  # noqa: PLW0603 - a process runs one command, in one terminal
    _progress = Progress(_write_line, live=sys.stderr.isatty())
    try:
        with tick(_BLINK, _progress.break_silence):
            yield
    finally:
        _progress.pause()
        _progress = None


def _write_line(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
