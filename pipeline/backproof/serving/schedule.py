"""The one schedule of rounds: one after the other, until nothing further can change the answer or time is up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from backproof.core.model import Arm, Evidence
    from backproof.records.serving import Round
    from backproof.serving.round_context import RoundSpec
    from backproof.serving.testbed import Testbed


@dataclass(frozen=True, kw_only=True, slots=True)
class FinishedRound:
    """A round that ran, with its evidence and the time it took."""

    spec: RoundSpec
    round: Round
    evidence: tuple[Evidence, ...]
    seconds: float


@dataclass(kw_only=True, slots=True)
class Progress:
    """A schedule as far as it ran."""

    finished: list[FinishedRound] = field(default_factory=list)
    left_out: list[RoundSpec] = field(default_factory=list)
    stopped: str = ""
    """Why the rest was left out."""

    @property
    def rounds(self) -> list[Round]:
        return [item.round for item in self.finished]

    @property
    def evidence(self) -> dict[tuple[Arm, int], tuple[Evidence, ...]]:
        return {(item.spec.arm, item.spec.number): item.evidence for item in self.finished}

    @property
    def all_evidence(self) -> tuple[Evidence, ...]:
        return tuple(proof for item in self.finished for proof in item.evidence)

    def of_label(self, label: str) -> list[Round]:
        return [item.round for item in self.finished if item.spec.label == label]


def run_rounds(
    testbed: Testbed,
    schedule: Iterable[RoundSpec],
    decide: Callable[[Progress], str],
    report: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Run the rounds in their order.

    Args:
        testbed: where they run.
        schedule: all rounds that are wanted.
        decide: the reason why nothing further can change the answer; empty to go on.
        report: called after each round.
    """
    progress = Progress()
    for spec in schedule:
        progress.stopped = progress.stopped or _find_stop(testbed, progress, decide)
        if progress.stopped:
            progress.left_out.append(spec)
            continue
        begun = time.monotonic()
        done = testbed.run_round(spec)
        seconds = time.monotonic() - begun
        evidence = testbed.collect_evidence(spec, done)
        progress.finished.append(FinishedRound(spec=spec, round=done, evidence=evidence, seconds=seconds))
        report(progress)
    return progress


def _find_stop(testbed: Testbed, progress: Progress, decide: Callable[[Progress], str]) -> str:
    """Return why no further round is worth its time; empty to go on."""
    if spoiled := next((done.spoiled for done in progress.rounds if done.spoiled), ""):
        return spoiled
    if decided := decide(progress):
        return decided
    budget = testbed.budget
    longest = max((item.seconds for item in progress.finished), default=0.0)
    if not budget.allows(longest):
        return f"the budget is spent ({budget.left:.0f} s left, a round took {longest:.0f} s)"
    return ""
