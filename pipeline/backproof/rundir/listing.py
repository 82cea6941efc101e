"""The runs of a folder, newest first."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backproof.core.model import Outcome, Record
from backproof.rundir.ledger import RUN_FILE, Ledger

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEEPEST = 3
_MOST = 5000
_BESIDE = 100
_FACTS = {"id", "kit", "started", "ended", "outcome", "level", "sentence"}


class RunRow(Record):
    """One run, in a line; `outcome` is None where its run.json cannot be read."""

    folder: str
    id: str = ""
    kit: str = ""
    branch: str = ""
    device: str = ""
    started: str = ""
    ended: str = ""
    outcome: Outcome | None = None
    level: int | None = None
    sentence: str = ""


class RunList(Record):
    """`backproof show --json`."""

    schema_version: Literal[1] = 1
    runs: tuple[RunRow, ...]


def list_runs(folder: Path) -> RunList:
    """Every run in the folder or below it, a few levels deep; a run folder is not searched for others."""
    rows = [_read_row(run, folder) for run in _walk_runs(folder)]
    return RunList(runs=tuple(sorted(rows, key=lambda row: (row.started, row.folder), reverse=True)))


def measure_earlier(folder: Path, kit: str) -> float | None:
    """Return how many seconds the newest run of that kit beside this folder worked; None where there is none."""
    beside = (Ledger(file.parent).load_run() for file in islice(folder.parent.glob(f"*/{RUN_FILE}"), _BESIDE))
    whole = [run for run in beside if run and run.kit == kit and run.ended and run.outcome is Outcome.PASS]
    newest = max(whole, key=lambda run: run.started, default=None)
    return sum(stage.seconds for stage in newest.stages) if newest else None


def _walk_runs(top: Path) -> Iterator[Path]:
    for seen, (place, inside, names) in enumerate(os.walk(top)):
        here = Path(place)  # as os.walk says it: below `top` already
        if RUN_FILE in names:
            yield here
        deep = len(here.relative_to(top).parts) >= _DEEPEST
        inside[:] = (
            [] if RUN_FILE in names or deep or seen > _MOST else sorted(n for n in inside if not n.startswith("."))
        )


def _read_row(folder: Path, top: Path) -> RunRow:
    name = folder.relative_to(top).as_posix()
    found = Ledger(folder).load_run()
    if found is None:
        return RunRow(folder=name, sentence="run.json is of another version, or cut")
    facts = found.model_dump(include=_FACTS)
    return RunRow(folder=name, branch=found.place, device=found.settings.device, **facts)
