"""Puts into run.json what is shown beside the proof and is no part of it: an audit, experiments, the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.rundir import loaded_run

if TYPE_CHECKING:
    from backproof.records.proof import Run, StageResult
    from backproof.rundir.ledger import Ledger


def known(ledger: Ledger) -> Run:
    """The run of a folder.

    Raises:
        PlanError: there is none of this version.
    """
    found = ledger.load_run()
    if found is None:
        raise PlanError(
            f"{ledger.folder}: there is no run to put this beside",
            why="it has no run.json, or one of another version",
            next_step="name the folder of a run; `backproof runs FOLDER` lists those that are there",
        )
    return found


def keep(ledger: Ledger, result: StageResult) -> None:
    """Register the result with its evidence; verdict and level stay as they are. The caller holds the folder's lock."""
    run = known(ledger)
    stages = (*(each for each in run.stages if each.stage != result.stage), result)
    earlier = tuple(each for each in run.earlier if each.stage != result.stage)
    run = run.model_copy(update={"stages": stages, "earlier": earlier})
    ledger.save_run(run.model_copy(update={"evidence": loaded_run.read(ledger, run).evidence}))
