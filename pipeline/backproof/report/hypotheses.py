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


def hypotheses(story: LoadedRun) -> tuple[Suspicion, ...]:
    """All that have intact evidence, in the order in which they were looked at."""
    suspicions = (*_of_logs(story), *_of_experiments(story))
    return tuple(suspicion for suspicion in suspicions if story.intact(suspicion.evidence))


def _of_logs(story: LoadedRun) -> Iterator[Suspicion]:
    if story.triage is None or story.triage.server is None:
        return
    for each in story.triage.server.hypotheses:
        yield Suspicion(
            hypothesis=each.hypothesis,
            verdict=each.verdict,
            why=f"the server's log: {each.evidence}",
            stage=story.registry.name_of(TriageResult),
            evidence=story.evidence_of(story.triage),
        )


def _of_experiments(story: LoadedRun) -> Iterator[Suspicion]:
    stage = story.registry.name_of(ExperimentsRecord)
    return (suspicion for record in story.experiments for suspicion in _of_experiment(record, stage))


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
