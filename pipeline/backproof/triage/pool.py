"""Spreads the ranges of large inputs over processes; what is small stays in this one, where nothing has to start."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Final

from backproof.triage import rules, scan
from backproof.triage.collect import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.triage.scan import Range

_WORTH: Final = 0.25
"""Seconds of work from which on other processes pay for their start."""
_TRY: Final = 16 << 20
"""Bytes that are read here first, to learn how long the rest will take: that depends on the errors, not on the size."""

Found = Tally | tuple[int, str]


def run(parts: Sequence[Range]) -> tuple[list[Tally], list[tuple[int, str]]]:
    """One tally per range, in order, and (source, reason) for what could not be read."""
    found = _spread(parts)
    return [each for each in found if isinstance(each, Tally)], [each for each in found if not isinstance(each, Tally)]


def _spread(parts: Sequence[Range]) -> list[Found]:
    found: list[Found] = []
    started, read = time.perf_counter(), 0
    while len(found) < len(parts) and read < _TRY:
        part = parts[len(found)]
        found.append(_one(part))
        read += part.stop - part.start
    rest = parts[len(found) :]
    left = sum(part.stop - part.start for part in rest)
    expected = left * (time.perf_counter() - started) / max(read, 1)
    return found + (_processes(rest) if expected > _WORTH else [_one(part) for part in rest])


def _processes(parts: Sequence[Range]) -> list[Found]:
    import multiprocessing  # noqa: PLC0415 - most inputs need none of it

    count = min(len(parts), _cpus())
    if count < 2:
        return [_one(part) for part in parts]
    rules.book()  # before the fork: the children share the compiled rules
    # A fork copies only this thread: with others around, their locks would be held for ever.
    alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if alone else "spawn")
    with context.Pool(count, initializer=_begin) as pool:
        return pool.map(_one, parts, chunksize=1)


def _begin() -> None:
    """In each child: no collection, for what it makes it keeps until it ends; and it ends quietly when it is told to.

    A fork inherits the command's handler of SIGTERM, which would print a traceback when the pool closes.
    """
    gc.disable()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _cpus() -> int:
    """Processors that this process may use: a container's limit counts, the host's total does not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one(part: Range) -> Found:
    try:
        return scan.read(part)
    except OSError as error:
        return part.source, error.strerror or str(error)
