"""Runs an experiment: sides in turn (abab), until all repeats ran, the rest cannot change the answer, or time is up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.model import Outcome
from backproof.records.experiment import ExperimentRecord, Run, SideResult
from backproof.serving import arms
from backproof.serving.experiments.classify import Tally, classify_effect, is_settled
from backproof.serving.experiments.difference import configure_side, require_one_difference
from backproof.serving.round_context import RoundSpec
from backproof.serving.schedule import run_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.kit.serving import Experiment, Serve
    from backproof.records.serving import Round
    from backproof.serving.experiments.difference import Configuration, Difference
    from backproof.serving.schedule import Progress
    from backproof.serving.testbed import Testbed


@dataclass(frozen=True, kw_only=True, slots=True)
class _Question:
    """An experiment with its two sides, and the fault that counts (any, where the plan names none)."""

    experiment: Experiment
    sides: tuple[Configuration, Configuration]
    difference: Difference
    wanted: str

    @property
    def load(self) -> bool:
        return self.difference.name.startswith("concurrency")

    def count_rounds(self, progress: Progress, label: str) -> list[Round]:
        """Return the rounds of a side that show something: passed, or failed with the fault that counts."""
        rounds = [done for done in progress.of_label(label) if not done.spoiled]
        return [
            done for done in rounds if done.observed in {"pass", self.wanted} or (not self.wanted and _has_failed(done))
        ]

    def tally_sides(self, progress: Progress) -> tuple[Tally, Tally]:
        left, right = (self._tally_side(progress, side.label) for side in self.sides)
        return left, right

    def _tally_side(self, progress: Progress, label: str) -> Tally:
        rounds = self.count_rounds(progress, label)
        return Tally(label=label, failed=sum(_has_failed(done) for done in rounds), ran=len(rounds))


def _has_failed(done: Round) -> bool:
    return done.observed.startswith("fault:")


def prepare_sides(
    experiment: Experiment, serve: Serve, baseline: Sequence[str]
) -> tuple[tuple[Configuration, Configuration], Difference]:
    """Return both sides and the one thing in which they differ.

    Raises:
        PlanError: they differ in more, or in something else.
    """
    left, right = (configure_side(experiment, side, serve, baseline) for side in experiment.side)
    return (left, right), require_one_difference(experiment, left, right)


def conduct_experiment(
    testbed: Testbed, experiment: Experiment, serve: Serve, baseline: Sequence[str]
) -> ExperimentRecord:
    """Run the experiment, one round after the other."""
    sides, difference = prepare_sides(experiment, serve, baseline)
    # A named fault of base is what is asked about; another one beside it is no answer to the question.
    wanted = serve.expect.base if serve.expect.base.startswith("fault:") else ""
    question = _Question(experiment=experiment, sides=sides, difference=difference, wanted=wanted)

    def report(progress: Progress) -> None:
        testbed.say(f"    {experiment.id}: {', '.join(tally.text for tally in question.tally_sides(progress))}")

    progress = run_rounds(testbed, _plan_rounds(question), lambda so_far: _find_decision(question, so_far), report)
    return _build_record(testbed, question, progress)


def _plan_rounds(question: _Question) -> list[RoundSpec]:
    return [
        RoundSpec(
            serve=side.serve,
            arguments=side.arguments,
            arm=side.arm,
            number=number,
            group=question.experiment.id,
            label=side.label,
        )
        for number in range(1, question.experiment.repeats + 1)
        for side in question.sides
    ]


def _find_decision(question: _Question, progress: Progress) -> str:
    """Return why the remaining rounds need not run; empty while they may change the answer."""
    left, right = question.tally_sides(progress)
    repeats = question.experiment.repeats
    remaining = [repeats - len(progress.of_label(side.label)) for side in question.sides]
    if progress.finished and is_settled(left, right, (remaining[0], remaining[1]), load=question.load):
        return "the rounds that are left cannot change the answer"
    return ""


def _build_record(testbed: Testbed, question: _Question, progress: Progress) -> ExperimentRecord:
    experiment, tallies = question.experiment, question.tally_sides(progress)
    effect = classify_effect(*tallies, load=question.load)
    refusal = arms.explain_incomparable(progress.rounds)
    inventory = testbed.session.inventory
    return ExperimentRecord(
        id=experiment.id,
        question=experiment.question,
        variable=experiment.variable,
        difference=str(question.difference),
        kind="undecided" if refusal else effect.kind,
        p=effect.p,
        sentence=refusal or effect.sentence,
        outcome=Outcome.INCONCLUSIVE if refusal or effect.kind == "undecided" else Outcome.PASS,
        sides=tuple(_summarise_side(question, progress, tally) for tally in tallies),
        runs=tuple(_summarise_run(item.spec.label, item.round) for item in progress.finished),
        host=testbed.facts.get("host", ""),
        boot_id=testbed.facts.get("boot_id", ""),
        stand_in=inventory is None or inventory.stand_in,
        stopped=progress.stopped,
        evidence=progress.all_evidence,
    )


def _summarise_run(label: str, done: Round) -> Run:
    return Run(side=label, number=done.number, observed=done.observed, failed_at=done.failed_at, why=done.why[:500])


def _summarise_side(question: _Question, progress: Progress, tally: Tally) -> SideResult:
    loads: dict[str, tuple[int, int]] = {}
    for done in question.count_rounds(progress, tally.label):
        for step in done.steps:
            failed, ran = loads.get(str(step.concurrency), (0, 0))
            loads[str(step.concurrency)] = (failed + (step.outcome != "pass"), ran + 1)
    return SideResult(
        label=tally.label,
        arm=next(side.arm for side in question.sides if side.label == tally.label),
        failed=tally.failed,
        ran=tally.ran,
        not_counted=len(progress.of_label(tally.label)) - tally.ran,
        by_load=loads,
    )
