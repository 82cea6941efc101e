"""Spread the ranges of large inputs over processes; small inputs stay in this one, where nothing has to start."""

from __future__ import annotations

import gc
import os
import signal
import time
from typing import TYPE_CHECKING, Final

from backproof.core import ticker
from backproof.triage import rules, scan
from backproof.triage.collect import FileSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.triage.scan import FileRange

_WORTH: Final = 0.25
"""Seconds of a processor from which on other processes pay for their start."""
_TRY: Final = 48 << 20
"""Bytes that are read here first, to learn how long the rest will take: that depends on the errors, not on the size.
The first file of a process takes three times as long as its others."""

RangeOutcome = FileSummary | tuple[int, str]


def scan_ranges(parts: Sequence[FileRange]) -> tuple[list[FileSummary], list[tuple[int, str]]]:
    """Return one summary per range, in order, and (source, reason) for what could not be read."""
    outcomes = _scan_all(parts)
    return [outcome for outcome in outcomes if isinstance(outcome, FileSummary)], [
        outcome for outcome in outcomes if not isinstance(outcome, FileSummary)
    ]


def _scan_all(parts: Sequence[FileRange]) -> list[RangeOutcome]:
    outcomes: list[RangeOutcome] = []
    rules.load_shipped_rules()  # outside of what is timed, and before any fork: children share the compiled rules
    started, read = time.process_time(), 0
    while len(outcomes) < len(parts) and read < _TRY:
        part = parts[len(outcomes)]
        outcomes.append(_scan_one(part))
        read += part.stop - part.start
    rest = parts[len(outcomes) :]
    left = sum(part.stop - part.start for part in rest)
    expected = left * (time.process_time() - started) / max(read, 1)
    return outcomes + (_scan_in_processes(rest) if expected > _WORTH else [_scan_one(part) for part in rest])


def _scan_in_processes(parts: Sequence[FileRange]) -> list[RangeOutcome]:
    import multiprocessing  # noqa: PLC0415 - most inputs need none of it

    count = min(len(parts), _count_cpus())
    if count < 2:
        return [_scan_one(part) for part in parts]
    # A fork copies only this thread: with others around, their locks would be held for ever.
    context = multiprocessing.get_context("fork" if ticker.can_fork() else "spawn")
    with context.Pool(count, initializer=_prepare_child) as pool:
        return pool.map(_scan_one, parts, chunksize=1)


def _prepare_child() -> None:
    """Prepare a child: it collects no garbage, for it keeps everything until it ends, and it ends quietly at SIGTERM.

    A fork inherits the command's handler of SIGTERM, which would print a traceback when the pool closes.
    """
    gc.disable()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _count_cpus() -> int:
    """Count the processors that this process may use: a container's limit counts, the host's total does not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _scan_one(part: FileRange) -> RangeOutcome:
    try:
        return scan.scan_range(part)
    except OSError as error:
        return part.source, error.strerror or str(error)
