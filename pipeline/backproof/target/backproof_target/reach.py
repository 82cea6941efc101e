"""Which lines of the patched files were executed, with the coverage library.

Interpreted Triton kernels are seen too: the interpreter compiles them again with their real file name and line numbers
(measured with Triton 3.6 and coverage 7; a test holds it). On a device kernels are compiled and leave no lines at all;
the launches with the hash of their source are the evidence there (see ``launches.py``).

Tracing makes the interpreter more than twice as slow, and a kernel runs the same lines over and over: only the first
launches of a kernel with the same constants are traced. So a line may have been reached and not be listed, never the
other way round.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from backproof_target.launches import constexpr_values

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_TRACED_LAUNCHES = 2


class Reach:
    """Line coverage of a few files; does nothing when it is not asked for."""

    def __init__(self, files: Sequence[Path], *, wanted: bool) -> None:
        self._files = [str(file.resolve()) for file in files]
        self._coverage: Any = None
        self._launched: dict[str, int] = {}
        self.why_not = ""
        if wanted and self._files:
            self._prepare_files()

    def _prepare_files(self) -> None:
        try:
            import coverage
        except ImportError as missing:
            self.why_not = f"Lines were not traced: coverage cannot be imported in the target ({missing})."
            return
        self._coverage = coverage.Coverage(data_file=None, include=self._files, config_file=False, messages=False)

    def start(self) -> None:
        if self._coverage is not None:
            self._coverage.start()

    def stop(self) -> dict[str, list[int]]:
        """Executed lines by file, as the request names it; a file that was never entered has none."""
        if self._coverage is None:
            return {}
        self._coverage.stop()
        data = self._coverage.get_data()
        return {file: sorted(data.lines(file) or []) for file in self._files}

    @contextmanager
    def of_launch(self, function: Any, bound: dict[str, Any]) -> Iterator[None]:
        """Whether this launch of a kernel is traced."""
        key = f"{function.__module__}.{function.__qualname__} {constexpr_values(function, bound)}"
        self._launched[key] = times = self._launched.get(key, 0) + 1
        if self._coverage is None or times <= _TRACED_LAUNCHES:
            yield
            return
        self._coverage.stop()
        try:
            yield
        finally:
            self._coverage.start()
