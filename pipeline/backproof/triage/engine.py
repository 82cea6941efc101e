"""From paths to the result: find, read, put on one clock, choose, explain."""

from __future__ import annotations

import datetime as dt
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.triage import choose_fault, events, hypotheses, pool, roles, rules, scan, sources, timestamps
from backproof.triage.build_result import ResultBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.triage import TriageResult
    from backproof.triage.collect import FileSummary
    from backproof.triage.inputs import LogFiles


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
    dated = [(mark.time, mark) for mark in world.marks if mark.time is not None]
    signs = choose_fault.SignsOfLife(
        healthy=tuple(at for at, mark in dated if mark.name == "healthy"),
        loads=tuple(at for at, mark in dated if mark.statistics and mark.statistics.generation > 0),
    )
    choice = choose_fault.choose_fault(world, book, signs)
    builder = ResultBuilder(files.sources, summaries, world, choice, book)
    kind = roles.refine_kind(choice.fault, builder.records, book) if choice.fault else None
    fault = choice.fault.time if choice.fault else None
    return builder.build_result(hypotheses.describe_server(world.marks, kind=kind, fault=fault), files)
