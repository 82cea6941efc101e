"""Spreads the ranges of large inputs over processes; small inputs stay in this one, where starting costs more."""

from __future__ import annotations

import multiprocessing
import os
import threading
from typing import TYPE_CHECKING, Final

from pipeline.triage import rules, scan
from pipeline.triage.record import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.triage.scan import Range

_WORTH: Final = 32 << 20
"""Bytes from which on a second process pays for its start."""


def run(parts: Sequence[Range]) -> tuple[list[Tally], list[tuple[int, str]]]:
    """One tally per range, in order, and (source, reason) for what could not be read."""
    found = (
        _spread(parts) if sum(part.stop - part.start for part in parts) >= _WORTH else [_one(part) for part in parts]
    )
    tallies = [each for each in found if isinstance(each, Tally)]
    return tallies, [each for each in found if not isinstance(each, Tally)]


def _spread(parts: Sequence[Range]) -> list[Tally | tuple[int, str]]:
    count = min(len(parts), _cpus())
    if count < 2:
        return [_one(part) for part in parts]
    rules.book()  # before the fork: the children share the compiled rules
    # A fork copies only this thread: with others around, their locks would be held for ever.
    alone = threading.active_count() == 1 and "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if alone else "spawn")
    with context.Pool(count) as pool:
        return pool.map(_one, parts, chunksize=1)


def _cpus() -> int:
    """Processors that this process may use: a container's limit counts, the host's total does not."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one(part: Range) -> Tally | tuple[int, str]:
    try:
        return scan.read(part)
    except OSError as error:
        return part.source, error.strerror or str(error)
