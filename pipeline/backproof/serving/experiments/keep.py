"""Keeps an experiment in its run: a record of its own, and one that has every experiment of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.model import worst
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import StageResult
from backproof.rundir import loaded_run, side_results

if TYPE_CHECKING:
    from backproof.core.model import Evidence
    from backproof.records.experiment import ExperimentRecord
    from backproof.rundir.ledger import Ledger

STAGE = "experiment"


def keep(ledger: Ledger, found: ExperimentRecord) -> None:
    """Register it; an earlier one of this id gives way, others stay while they have their evidence."""
    command = f"backproof experiment {found.id} --run {ledger.folder}"
    file = ledger.write(f"{STAGE}/{found.id}/{STAGE}.json", found)
    own = ledger.evidence(file, claim=f"experiment {found.id}: {found.question}", command=command)
    told = loaded_run.read(ledger, side_results.known(ledger))
    others = tuple(each for each in told.experiments if each.id != found.id and told.intact(each.evidence))
    every = (*others, found.model_copy(update={"evidence": (own, *found.evidence)}))
    whole = ledger.write(f"{STAGE}/{STAGE}.json", ExperimentsRecord(experiments=every))
    listed = ledger.evidence(whole, claim="every experiment of this run", command=command)
    side_results.keep(ledger, _result(every, listed))


def _result(every: tuple[ExperimentRecord, ...], listed: Evidence) -> StageResult:
    return StageResult(
        stage=STAGE,
        outcome=worst(each.outcome for each in every),
        sentence="; ".join(f"{each.id}: {each.kind}, {each.sentence}" for each in every),
        evidence=(listed, *(proof for each in every for proof in each.evidence)),
    )
