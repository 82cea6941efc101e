"""Runs an experiment: sides in turn (abab), until all repeats ran, the rest cannot change the answer, or time is up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backproof.core.model import Outcome
from backproof.records.experiment import ExperimentRecord, Run, SideResult
from backproof.serving import arms
from backproof.serving.experiments.classify import Tally, classify, settled
from backproof.serving.experiments.difference import Configuration, Difference, configured, require_one
from backproof.serving.testbed import Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.core.model import Evidence
    from backproof.kit.serving import Experiment, Serve
    from backproof.records.serving import Round
    from backproof.serving.testbed import Testbed


@dataclass(kw_only=True, slots=True)
class _Going:
    sides: tuple[Configuration, Configuration]
    wanted: str
    rounds: list[tuple[str, Round]] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    longest: float = 0.0

    def of(self, label: str) -> list[Round]:
        return [each for side, each in self.rounds if side == label]

    def counted(self, label: str) -> list[Round]:
        """Rounds that say something: passed, or failed with the fault that is looked for (any, where none is named)."""
        said = [each for each in self.of(label) if not each.spoiled]
        return [each for each in said if each.observed in {"pass", self.wanted} or (not self.wanted and _failed(each))]

    def tallies(self) -> tuple[Tally, Tally]:
        one, other = (
            Tally(
                label=side.label,
                failed=sum(_failed(each) for each in self.counted(side.label)),
                ran=len(self.counted(side.label)),
            )
            for side in self.sides
        )
        return one, other


def _failed(done: Round) -> bool:
    return done.observed.startswith("fault:")


def prepare(
    experiment: Experiment, serve: Serve, baseline: Sequence[str]
) -> tuple[tuple[Configuration, Configuration], Difference]:
    """Both sides and the one thing in which they differ.

    Raises:
        PlanError: they differ in more, or in something else.
    """
    one, other = (configured(experiment, each, serve, baseline) for each in experiment.side)
    return (one, other), require_one(experiment, one, other)


def conduct(bed: Testbed, experiment: Experiment, serve: Serve, baseline: Sequence[str]) -> ExperimentRecord:
    """The experiment, one round after the other."""
    sides, difference = prepare(experiment, serve, baseline)
    # A named fault of base is what is asked about; another one beside it is no answer to the question.
    wanted = serve.expect.base if serve.expect.base.startswith("fault:") else ""
    going = _Going(sides=sides, wanted=wanted)
    load = difference.name.startswith("concurrency")
    stopped = ""
    for number in range(1, experiment.repeats + 1):
        for side in sides:
            stopped = stopped or _stop(bed, experiment, going, load=load)
            if not stopped:
                _one(bed, experiment, going, side, number)
    return _record(bed, experiment, going, difference, stopped, load=load)


def _one(bed: Testbed, experiment: Experiment, going: _Going, side: Configuration, number: int) -> None:
    place = f"{bed.folder}/{experiment.id}/{side.label}-{number}"
    begun = time.monotonic()
    done = bed.round(Slot(serve=side.serve, arguments=side.arguments, arm=side.arm, number=number, place=place))
    going.longest = max(going.longest, time.monotonic() - begun)
    going.rounds.append((side.label, done))
    going.evidence += bed.evidence(place, done)
    bed.say(f"    {experiment.id}: {', '.join(each.text for each in going.tallies())}")


def _stop(bed: Testbed, experiment: Experiment, going: _Going, *, load: bool) -> str:
    if spoiled := next((each.spoiled for _, each in going.rounds if each.spoiled), ""):
        return spoiled
    if not bed.budget.allows(going.longest):
        return f"the budget is spent ({bed.budget.left:.0f} s left, a round took {going.longest:.0f} s)"
    one, other = going.tallies()
    left = [experiment.repeats - len(going.of(side.label)) for side in going.sides]
    if going.rounds and any(left) and settled(one, other, (left[0], left[1]), load=load):
        return "the rounds that are left cannot change the answer"
    return ""


def _record(
    bed: Testbed, experiment: Experiment, going: _Going, difference: Difference, stopped: str, *, load: bool
) -> ExperimentRecord:
    one, other = going.tallies()
    found = classify(one, other, load=load)
    refused = arms.incomparable([each for _, each in going.rounds])
    inventory = bed.session.inventory
    return ExperimentRecord(
        id=experiment.id,
        question=experiment.question,
        variable=experiment.variable,
        difference=str(difference),
        kind="undecided" if refused else found.kind,
        p=found.p,
        sentence=refused or found.sentence,
        outcome=Outcome.INCONCLUSIVE if refused or found.kind == "undecided" else Outcome.PASS,
        sides=tuple(_side(going, side, tally) for side, tally in zip(going.sides, (one, other), strict=True)),
        runs=tuple(
            Run(side=side, number=each.number, observed=each.observed, failed_at=each.failed_at, why=each.why[:500])
            for side, each in going.rounds
        ),
        host=bed.facts.get("host", ""),
        boot_id=bed.facts.get("boot_id", ""),
        stand_in=inventory is None or inventory.stand_in,
        stopped=stopped,
        evidence=tuple(going.evidence),
    )


def _side(going: _Going, side: Configuration, tally: Tally) -> SideResult:
    loads: dict[str, tuple[int, int]] = {}
    for done in going.counted(side.label):
        for step in done.steps:
            failed, ran = loads.get(str(step.concurrency), (0, 0))
            loads[str(step.concurrency)] = (failed + (step.outcome != "pass"), ran + 1)
    return SideResult(
        label=side.label,
        arm=side.arm,
        failed=tally.failed,
        ran=tally.ran,
        not_counted=len(going.of(side.label)) - tally.ran,
        by_load=loads,
    )
