"""The boundary to what a process answers: pipes that only Backproof reads, one for each answer.

An answer is a line. A pipe takes no line back: whoever writes one of its own cannot remove the one that follows.
"""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 64 * 1024 * 1024
"""Bytes that are kept of one answer."""
_BLOCK = 1 << 16


class AnswerPipes:
    """Pipes whose writing ends a process gets.

    They are read while the process runs and to its end, not to the end of the file: what it started may hold one open.
    """

    def __init__(self, count: int) -> None:
        self._pipes = [os.pipe() for _ in range(count)]
        self._texts = [bytearray() for _ in range(count)]

    @property
    def handles(self) -> tuple[int, ...]:
        """The writing ends, as `subprocess` passes them on."""
        return tuple(writer for _, writer in self._pipes)

    def list_lines(self, number: int) -> list[bytes]:
        """Return the whole lines of one answer; a line that was cut by the end of the process is left out."""
        return bytes(self._texts[number]).split(b"\n")[:-1]

    @contextmanager
    def read_during(self) -> Iterator[None]:
        """Read until the block ends; a process that got the writing ends runs in it."""
        for _, writer in self._pipes:
            os.close(writer)
        stop, stopped = os.pipe()
        thread = threading.Thread(target=self._read_until, args=(stop,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            os.close(stopped)
            thread.join()
            for handle in (stop, *(reader for reader, _ in self._pipes)):
                os.close(handle)

    def _read_until(self, stop: int) -> None:
        with DefaultSelector() as selector:
            selector.register(stop, EVENT_READ)
            for number, (reader, _) in enumerate(self._pipes):
                os.set_blocking(reader, False)
                selector.register(reader, EVENT_READ, number)
            ready = [key.fd for key, _ in selector.select()]
            while stop not in ready:
                for key in [selector.get_key(handle) for handle in ready]:
                    if not self._read_block(key.data):
                        selector.unregister(key.fd)
                ready = [key.fd for key, _ in selector.select()]
        for number in range(len(self._pipes)):
            while self._read_block(number):
                pass

    def _read_block(self, number: int) -> bool:
        """Read what is there; False where nothing is, or nothing more will come."""
        with suppress(BlockingIOError):
            if block := os.read(self._pipes[number][0], _BLOCK):
                room = max(0, _LARGEST - len(self._texts[number]))
                self._texts[number] += block[:room]
                return True
        return False
