"""Joins the runs of a matrix into one report. Each is judged again; a shard that is not there is an error, not a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.errors import BackproofError, PlanError
from backproof.core.model import Outcome, worst_outcome
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.records.merged import Merged, Shard
from backproof.report import render
from backproof.rundir.ledger import RUN_FILE, Ledger, read_written, sha256_of
from backproof.upstream import publish
from backproof.upstream.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.rundir.registry import Registry
    from backproof.upstream.matrix import Cell


def merge_runs(folders: Sequence[Path], kit: Path, registry: Registry, *, expected: Path | None = None) -> Merged:
    """Judge each run folder again and put them beside each other.

    Args:
        folders: the runs, or folders that hold them (as artifacts come down).
        kit: the plan they share.
        registry: the stages whose records they may hold.
        expected: what `backproof ci matrix` printed: a cell without a run is an error.

    Raises:
        PlanError: the runs are of different kits, or none is there.
    """
    loaded = [publish.load_publishable(run, registry, kit) for run in _find_runs(folders)]
    runs = sorted(loaded, key=lambda item: item.said.started)
    shards = {(item.said.settings.branch, item.said.settings.device): _make_shard(item) for item in runs}
    for cell in (
        read_written(expected, Matrix, what="matrix", command="backproof ci matrix").include if expected else ()
    ):
        shards.setdefault((cell.branch, cell.device), _absent_shard(cell))
    if not shards:
        raise PlanError(
            "there is no run to join", why=f"none of the folders has a {RUN_FILE}", next_step="name run folders"
        )
    plan = loaded[0].plan if loaded else load_plan(kit, DEVICES)
    ordered = tuple(shards[key] for key in sorted(shards))
    return Merged(
        kit=plan.id, title=plan.title, outcome=worst_outcome(entry.outcome for entry in ordered), shards=ordered
    )


def write_merged(merged: Merged, folder: Path) -> None:
    """merged.json and merged.md."""
    ledger = Ledger(folder)
    ledger.write_record("merged.json", merged)
    ledger.write_text("merged.md", render.render_matrix(merged))


def _find_runs(folders: Sequence[Path]) -> list[Path]:
    files = (
        folder.glob(RUN_FILE) if (folder / RUN_FILE).is_file() else folder.glob(f"*/{RUN_FILE}") for folder in folders
    )
    return [file.parent for group in files for file in sorted(group)]


def _make_shard(loaded: publish.Loaded) -> Shard:
    run = loaded.run
    outcome, sentence = run.outcome, run.sentence
    try:
        publish.ready.must_hold(loaded)
    except BackproofError as error:
        if outcome in {Outcome.PASS, Outcome.FAIL}:
            outcome, sentence = Outcome.ERROR, f"{error.what}: {error.why}"
    return Shard(
        branch=run.settings.branch,
        device=run.settings.device,
        outcome=outcome,
        level=run.level,
        sentence=sentence,
        run=run.id,
        base=loaded.story.pick.base if loaded.story.pick else "",
        sha256=sha256_of(loaded.ledger.folder / RUN_FILE),
    )


def _absent_shard(cell: Cell) -> Shard:
    sentence = "no run came back: nothing is known of this one"
    return Shard(branch=cell.branch, device=cell.device, outcome=Outcome.ERROR, sentence=sentence)
