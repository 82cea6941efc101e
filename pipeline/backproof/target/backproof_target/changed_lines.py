"""Which of a few lines one test executes: traced for that test alone, and only in functions that have such lines."""

from __future__ import annotations

import dis
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import CodeType, FrameType


class LineTrace:
    """The wanted lines by absolute file; `start` and `stop` stand around a test."""

    def __init__(self, wanted: dict[str, list[int]]) -> None:
        self._wanted = {file: frozenset(lines) for file, lines in wanted.items()}
        self._of_code: dict[CodeType, frozenset[int]] = {}
        self._hits: set[tuple[str, int]] = set()
        self._before: Any = None

    def start(self) -> None:
        self._hits = set()
        self._before = sys.gettrace()
        threading.settrace(self._enter)
        sys.settrace(self._enter)

    def stop(self) -> dict[str, list[int]]:
        """Return the wanted lines that were executed, by file."""
        sys.settrace(self._before)
        threading.settrace(self._before)
        files = {file for file, _ in self._hits}
        return {file: sorted(line for other, line in self._hits if other == file) for file in sorted(files)}

    def _enter(self, frame: FrameType, _: str, __: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in self._wanted:
            return None
        if code not in self._of_code:
            self._of_code[code] = self._wanted[code.co_filename] & _list_lines(code)
        wanted = self._of_code[code]
        if not wanted:
            return None
        # A changed signature or decorator runs when the module is loaded; a call of the function is what it is for.
        body = min((line for line in _list_starts(code) if line > code.co_firstlineno), default=0)
        self._hits.update((code.co_filename, line) for line in wanted if line < body)

        def trace_line(inner: FrameType, event: str, _: Any) -> Any:
            if event == "line" and inner.f_lineno in wanted:
                self._hits.add((code.co_filename, inner.f_lineno))
            return trace_line

        return trace_line


def _list_starts(code: CodeType) -> list[int]:
    return [line for _, line in dis.findlinestarts(code) if line]


def _list_lines(code: CodeType) -> frozenset[int]:
    return frozenset(range(code.co_firstlineno, max(_list_starts(code), default=code.co_firstlineno) + 1))
