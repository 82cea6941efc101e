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
    """List all that have intact evidence, in the order in which they were looked at."""
    stage = loaded.registry.name_of(ExperimentsRecord)
    tested = (suspicion for record in loaded.experiments for suspicion in _read_experiment(record, stage))
    suspicions = (*_read_logs(loaded), *tested)
    return tuple(suspicion for suspicion in suspicions if loaded.is_intact(suspicion.evidence))


def _read_logs(loaded: LoadedRun) -> Iterator[Suspicion]:
    if loaded.triage is None or loaded.triage.server is None:
        return
    for hypothesis in loaded.triage.server.hypotheses:
        yield Suspicion(
            hypothesis=hypothesis.hypothesis,
            verdict=hypothesis.verdict,
            why=f"the server's log: {hypothesis.evidence}",
            stage=loaded.registry.name_of(TriageResult),
            evidence=loaded.evidence_of(loaded.triage),
        )


def _read_experiment(experiment: ExperimentRecord, stage: str) -> Iterator[Suspicion]:
    where = "; no device was there: this shows nothing of one" if experiment.stand_in else ""
    verdicts = [(hypothesis, "ruled out") for hypothesis in experiment.rules_out]
    if experiment.kind == "switch":
        verdicts.append((f"{experiment.variable} decides whether it fails", "confirmed"))
    for hypothesis, verdict in verdicts:
        yield Suspicion(
            hypothesis=hypothesis,
            verdict=verdict,
            why=f"experiment {experiment.id}: {experiment.sentence}{where}",
            stage=stage,
            evidence=experiment.evidence,
        )
