"""From paths to the answer: find, read, put on one clock, choose, explain."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.triage import choose_fault, correlate, events, hypotheses, pool, roles, rules, scan, sources, timestamps
from backproof.triage.build_result import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backproof.core.vllm_statistics import EngineStatistics
    from backproof.records.triage import TriageResult
    from backproof.triage.collect import Tally
    from backproof.triage.events import World
    from backproof.triage.inputs import Found, Source
    from backproof.triage.serverlog import Mark
    from backproof.triage.timestamps import Stamp


def triage(paths: Sequence[Path], *, now: dt.datetime | None = None) -> TriageResult:
    """What happened first in the logs below `paths`.

    Nothing that is read can make this fail: what cannot be read is a note in the result. `now` gives stamps without a
    year one when nothing else does.
    """
    with ExitStack() as stack:

        @cache
        def folder() -> Path:
            import tempfile  # noqa: PLC0415 - only archives need it, and the start is measured in milliseconds

            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backproof-triage-")))

        found = sources.collect(paths, folder)
        tallies, broken = pool.run(scan.ranges(found.sources))
        found.unread += [f"could not read {found.sources[number].label}: {why}" for number, why in broken]
        return _build_result(found, tallies, timestamps.of_datetime(now or dt.datetime.now(dt.UTC).astimezone()))


def _build_result(found: Found, tallies: Sequence[Tally], now: int) -> TriageResult:
    book = rules.book()
    world = events.build(found.sources, tallies, book, now)
    loads, marks = _server(found.sources, tallies, world)
    signs = choose_fault.Signs(
        healthy=tuple(at for at, mark in marks if mark.name == "healthy" and at is not None),
        loads=tuple(at for at, load in loads if at is not None and load.generation > 0),
    )
    choice = choose_fault.choose(world, book, signs)
    answer = Answer(found.sources, tallies, world, choice, book)
    kind = roles.precise_kind(choice.fault, answer.settled, book) if choice.fault else None
    fault = choice.fault.time if choice.fault else None
    return answer.build(hypotheses.view(loads, marks, kind=kind, fault=fault), found)


def _server(
    found: Sequence[Source], tallies: Sequence[Tally], world: World
) -> tuple[list[tuple[int | None, EngineStatistics]], list[tuple[int | None, Mark]]]:
    """Statistics and marks with their times, in order."""
    loads: list[tuple[int | None, EngineStatistics]] = []
    marks: list[tuple[int | None, Mark]] = []
    for tally in tallies:
        when = _clock_of(found[tally.source], world)
        loads += [(when(load.stamp), load.statistics) for load in tally.loads]
        marks += [(when(mark.stamp), mark) for mark in tally.marks]
    return sorted(loads, key=_by_time), sorted(marks, key=_by_time)


def _clock_of(source: Source, world: World) -> Callable[[Stamp | None], int | None]:
    boot = world.boots.get(correlate.place(source.label).host)

    def when(stamp: Stamp | None) -> int | None:
        settled = timestamps.settle(stamp, near=world.near, boot_at=boot)
        return settled.us if settled else None

    return when


def _by_time(pair: tuple[int | None, object]) -> tuple[bool, int]:
    return pair[0] is None, pair[0] or 0
