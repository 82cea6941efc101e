"""What was suspected and what became of it: by the server's log, and by experiments that changed one variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.records.experiment import ExperimentsRecord
from backproof.records.triage import TriageResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.core.model import Evidence
    from backproof.records.experiment import ExperimentRecord
    from backproof.rundir.loaded_run import LoadedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspicion:
    """One hypothesis, what says so, and what that rests on."""

    hypothesis: str
    verdict: str
    why: str
    stage: str
    evidence: tuple[Evidence, ...]


def list_suspicions(loaded: LoadedRun) -> tuple[Suspicion, ...]:
    """All that have intact evidence, in the order in which they were looked at."""
    suspicions = (*_of_logs(loaded), *_of_experiments(loaded))
    return tuple(suspicion for suspicion in suspicions if loaded.intact(suspicion.evidence))


def _of_logs(loaded: LoadedRun) -> Iterator[Suspicion]:
    if loaded.triage is None or loaded.triage.server is None:
        return
    for each in loaded.triage.server.hypotheses:
        yield Suspicion(
            hypothesis=each.hypothesis,
            verdict=each.verdict,
            why=f"the server's log: {each.evidence}",
            stage=loaded.registry.name_of(TriageResult),
            evidence=loaded.evidence_of(loaded.triage),
        )


def _of_experiments(loaded: LoadedRun) -> Iterator[Suspicion]:
    stage = loaded.registry.name_of(ExperimentsRecord)
    return (suspicion for record in loaded.experiments for suspicion in _of_experiment(record, stage))


def _of_experiment(found: ExperimentRecord, stage: str) -> Iterator[Suspicion]:
    where = "; no device was there: this shows nothing of one" if found.stand_in else ""
    told = [(each, "ruled out") for each in found.rules_out]
    if found.kind == "switch":
        told.append((f"{found.variable} decides whether it fails", "confirmed"))
    for hypothesis, verdict in told:
        yield Suspicion(
            hypothesis=hypothesis,
            verdict=verdict,
            why=f"experiment {found.id}: {found.sentence}{where}",
            stage=stage,
            evidence=found.evidence,
        )
