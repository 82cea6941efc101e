"""What was suspected and what became of it: by the server's log, and by experiments that changed one variable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.core.model import Evidence
    from backproof.records.experiment import ExperimentRecord
    from backproof.rundir.loaded_run import Story


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspicion:
    """One hypothesis, what says so, and what that rests on."""

    hypothesis: str
    verdict: str
    why: str
    stage: str
    evidence: tuple[Evidence, ...]


def hypotheses(story: Story) -> tuple[Suspicion, ...]:
    """All that have intact evidence, in the order in which they were looked at."""
    found = (*_of_logs(story), *(each for one in story.experiments for each in _of_experiment(one)))
    return tuple(each for each in found if story.intact(each.evidence))


def _of_logs(story: Story) -> Iterator[Suspicion]:
    server = story.triage.server if story.triage else None
    for each in server.hypotheses if server else ():
        yield Suspicion(
            hypothesis=each.hypothesis,
            verdict=each.verdict,
            why=f"the server's log: {each.evidence}",
            stage="triage",
            evidence=story.evidence_of("triage"),
        )


def _of_experiment(found: ExperimentRecord) -> Iterator[Suspicion]:
    where = "; no device was there: this shows nothing of one" if found.stand_in else ""
    told = [(each, "ruled out") for each in found.rules_out]
    if found.kind == "switch":
        told.append((f"{found.variable} decides whether it fails", "confirmed"))
    for hypothesis, verdict in told:
        yield Suspicion(
            hypothesis=hypothesis,
            verdict=verdict,
            why=f"experiment {found.id}: {found.sentence}{where}",
            stage="experiment",
            evidence=found.evidence,
        )
