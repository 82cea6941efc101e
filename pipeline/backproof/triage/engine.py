"""From paths to the result: find, read, put on one clock, choose, explain."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.triage import choose_fault, correlate, events, hypotheses, pool, roles, rules, scan, sources, timestamps
from backproof.triage.build_result import ResultBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backproof.core.vllm_statistics import EngineStatistics
    from backproof.records.triage import TriageResult
    from backproof.triage.collect import FileSummary
    from backproof.triage.events import World
    from backproof.triage.inputs import LogFiles, Source
    from backproof.triage.serverlog import ServerMark
    from backproof.triage.timestamps import Stamp


def triage(paths: Sequence[Path], *, now: dt.datetime | None = None) -> TriageResult:
    """Find the first fault in the logs below `paths`.

    Nothing that is read can make this fail: what cannot be read is a note in the result. `now` gives stamps without a
    year one when nothing else does.
    """
    with ExitStack() as stack:

        @cache
        def make_folder() -> Path:
            import tempfile  # noqa: PLC0415 - only archives need it, and the start is measured in milliseconds

            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="backproof-triage-")))

        files = sources.collect_files(paths, make_folder)
        summaries, broken = pool.scan_ranges(scan.split_ranges(files.sources))
        files.unread += [f"could not read {files.sources[number].label}: {why}" for number, why in broken]
        return _build_result(files, summaries, timestamps.convert_datetime(now or dt.datetime.now(dt.UTC).astimezone()))


def _build_result(files: LogFiles, summaries: Sequence[FileSummary], now: int) -> TriageResult:
    book = rules.load_shipped_rules()
    world = events.build_world(files.sources, summaries, book, now)
    loads, marks = _date_server_lines(files.sources, summaries, world)
    signs = choose_fault.SignsOfLife(
        healthy=tuple(at for at, mark in marks if mark.name == "healthy" and at is not None),
        loads=tuple(at for at, load in loads if at is not None and load.generation > 0),
    )
    choice = choose_fault.choose_fault(world, book, signs)
    builder = ResultBuilder(files.sources, summaries, world, choice, book)
    kind = roles.refine_kind(choice.fault, builder.records, book) if choice.fault else None
    fault = choice.fault.time if choice.fault else None
    return builder.build_result(hypotheses.describe_server(loads, marks, kind=kind, fault=fault), files)


def _date_server_lines(
    files: Sequence[Source], summaries: Sequence[FileSummary], world: World
) -> tuple[list[tuple[int | None, EngineStatistics]], list[tuple[int | None, ServerMark]]]:
    """Return statistics and marks with their times, in order."""
    loads: list[tuple[int | None, EngineStatistics]] = []
    marks: list[tuple[int | None, ServerMark]] = []
    for summary in summaries:
        place_stamp = _make_clock(files[summary.source], world)
        loads += [(place_stamp(load.stamp), load.statistics) for load in summary.loads]
        marks += [(place_stamp(mark.stamp), mark) for mark in summary.marks]
    return sorted(loads, key=_get_time), sorted(marks, key=_get_time)


def _make_clock(source: Source, world: World) -> Callable[[Stamp | None], int | None]:
    boot = world.boots.get(correlate.read_label(source.label).host)

    def place_stamp(stamp: Stamp | None) -> int | None:
        settled = timestamps.settle_stamp(stamp, near=world.near, boot_at=boot)
        return settled.us if settled else None

    return place_stamp


def _get_time(pair: tuple[int | None, object]) -> tuple[bool, int]:
    return pair[0] is None, pair[0] or 0
