"""The chain of claims: what each stage says, in order, what it says in parts, and the evidence for it.

Each evidence file stands in one place only, under the narrowest claim that names it; whatever else rests on it refers to
it by number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.model import Outcome
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import ValidateRecord, VerifyRecord
from backproof.report.arm_differences import flat
from backproof.report.excerpts import excerpt
from backproof.verdict.run_verdict import case_outcome, stage_outcome

if TYPE_CHECKING:
    from backproof.core.model import Evidence, Finding
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.proof import Case, Claim, StageResult
    from backproof.rundir.loaded_run import LoadedRun

_EXCERPTS = 400
_SHOWN = 2000
_CASES = 1000
_FACTS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Exhibit:
    """One evidence file as it is shown; no excerpt of what does not hold."""

    number: int
    evidence: Evidence
    holds: bool
    excerpt: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """One claim: of a stage, or a part of it."""

    stage: str
    name: str
    outcome: Outcome
    sentence: str
    rests_on: tuple[Evidence, ...]
    exhibits: tuple[Exhibit, ...]
    findings: tuple[Finding, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[Link, ...] = ()
    seconds: float = 0
    reused: bool = False


class _Chain:
    """Hands each evidence file out once."""

    def __init__(self, story: LoadedRun) -> None:
        self.story = story
        self.numbers = {each.path: index for index, each in enumerate(story.run.evidence, 1)}
        self.free = {path for path, number in self.numbers.items() if number <= _SHOWN}

    def stage(self, found: StageResult) -> Link:
        return Link(
            stage=found.stage,
            name=found.stage,
            outcome=stage_outcome(found, self.story),
            sentence=found.sentence,
            rests_on=found.evidence,
            exhibits=self.exhibits(found.evidence),
            parts=self.parts(found.stage),
            seconds=found.seconds,
            reused=found.reused,
        )

    def parts(self, stage: str) -> tuple[Link, ...]:
        """Return what a stage says in parts: claims, cases or experiments."""
        kind = self.story.registry.record_of(stage)
        if kind is VerifyRecord:
            return tuple(self.claim(claim, stage) for claim in self.story.claims)
        if kind is ValidateRecord:
            return tuple(self.case(case, stage) for case in _worst_first(self.story.cases))
        if kind is ExperimentsRecord:
            return tuple(self.experiment(experiment, stage) for experiment in self.story.experiments)
        return ()

    def claim(self, found: Claim, stage: str) -> Link:
        return Link(
            stage=stage,
            name=found.name,
            outcome=found.outcome,
            sentence=found.sentence,
            rests_on=found.evidence,
            exhibits=self.exhibits(found.evidence),
            findings=found.findings,
        )

    def case(self, found: Case, stage: str) -> Link:
        said = f"{found.sentence}; first: {found.first}" if found.first else found.sentence
        return Link(
            stage=stage,
            name=f"{found.check} · {found.model} · {found.arm}",
            outcome=case_outcome(found),
            sentence=said,
            rests_on=found.evidence,
            exhibits=self.exhibits(found.evidence),
            facts=tuple(flat(found.observations))[:_FACTS],
        )

    def experiment(self, found: ExperimentRecord, stage: str) -> Link:
        return Link(
            stage=stage,
            name=found.id,
            outcome=found.outcome,
            sentence=f"{found.question} {found.kind}: {found.sentence}",
            rests_on=found.evidence,
            exhibits=self.exhibits(found.evidence),
        )

    def exhibits(self, evidence: tuple[Evidence, ...]) -> tuple[Exhibit, ...]:
        mine = [each for each in dict.fromkeys(evidence) if each.path in self.free]
        self.free -= {each.path for each in mine}
        return tuple(self.exhibit(each) for each in mine)

    def exhibit(self, evidence: Evidence) -> Exhibit:
        number, holds = self.numbers[evidence.path], evidence.path not in self.story.altered
        shown = holds and number <= _EXCERPTS and self.story.folder
        text = excerpt(self.story.folder, evidence.path) if shown else ""
        return Exhibit(number=number, evidence=evidence, holds=holds, excerpt=text)


def _worst_first(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """All in their order, unless there are too many: then those that did not pass come first. The table has the rest."""
    if len(cases) <= _CASES:
        return cases
    return tuple(sorted(cases, key=lambda each: case_outcome(each) is Outcome.PASS)[:_CASES])


def chain(story: LoadedRun) -> tuple[Link, ...]:
    """Every stage of the run, with its claims, cases or experiments as parts of it."""
    made = _Chain(story)
    return tuple(made.stage(each) for each in story.stages)
