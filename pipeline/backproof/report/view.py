"""The view model of a run: what the comment, the page, JUnit, the terminal and the diff show of it, judged once.

Nothing here is shown as established when its evidence is missing or altered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.core.level import Level
from backproof.core.model import Arm, Outcome, StageRole, worst_outcome
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import InstallRecord, ValidateRecord, VerifyRecord
from backproof.report.arm_differences import flatten
from backproof.verdict.run_verdict import case_outcome, stage_outcome
from backproof.verdict.sentences import case_sentence, level_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.core.model import Evidence, Finding
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.proof import Case, Claim, Run, StageResult
    from backproof.rundir.loaded_run import LoadedRun

EVIDENCE_GONE = "evidence missing or altered"
PartKind = Literal["claim", "case", "experiment"]


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgedCase:
    """A case with its outcome: an error when its evidence does not hold."""

    case: Case
    outcome: Outcome
    holds: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseRow:
    """A check under a model, and its case on each arm where there is one."""

    check: str
    model: str
    arms: tuple[JudgedCase | None, ...]

    @property
    def role(self) -> str:
        return next(judged.case.role for judged in self.arms if judged)

    @property
    def outcome(self) -> Outcome:
        """The worst of its arms."""
        return worst_outcome(judged.outcome for judged in self.arms if judged)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """One claim, case or experiment of a stage; its outcome is an error when its evidence does not hold."""

    kind: PartKind
    name: str
    outcome: Outcome
    sentence: str
    evidence: tuple[Evidence, ...]
    holds: bool
    findings: tuple[Finding, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StageView:
    """A stage as it ended, and its outcome as the folder shows it now.

    Args:
        doubt: why the outcome is another one than the stage left.
        beside: it is no part of the proof.
    """

    result: StageResult
    outcome: Outcome
    doubt: str
    beside: bool
    parts: tuple[Part, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """One thing that a stage found of its environment."""

    name: str
    value: str
    stage: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RunView:
    """One run as every report shows it."""

    loaded: LoadedRun

    @property
    def run(self) -> Run:
        return self.loaded.run

    @property
    def ladder(self) -> tuple[tuple[str, bool], ...]:
        """Each level's name, and whether it was reached."""
        reached = -1 if self.run.level is None else self.run.level
        return tuple((name, level <= reached) for level, name in self._level_names.items())

    @property
    def level_name(self) -> str:
        return "not landed" if self.run.level is None else self._level_names[Level(self.run.level)]

    @property
    def _level_names(self) -> dict[Level, str]:
        checks = self.loaded.validate
        return level_names(checks.device if checks else self.run.settings.device)

    @property
    def altered(self) -> tuple[str, ...]:
        """The paths of all evidence that is missing or altered."""
        return tuple(sorted(self.loaded.altered))

    def holds(self, evidence: tuple[Evidence, ...]) -> bool:
        """Return whether nothing that a line rests on is missing or altered."""
        return not evidence or self.loaded.is_intact(evidence)

    @property
    def stages(self) -> tuple[StageView, ...]:
        return tuple(self._stage(result) for result in self.loaded.stages)

    def _stage(self, result: StageResult) -> StageView:
        outcome = stage_outcome(result, self.loaded)
        doubt = self.loaded.contradictions.get(result.stage, EVIDENCE_GONE) if outcome is not result.outcome else ""
        return StageView(
            result=result,
            outcome=outcome,
            doubt=doubt,
            beside=self.loaded.registry.role_of(result.stage) is StageRole.BESIDE,
            parts=self._parts(result.stage),
        )

    def _parts(self, stage: str) -> tuple[Part, ...]:
        kind = self.loaded.registry.record_of(stage)
        if kind is VerifyRecord:
            return self.claims
        if kind is ValidateRecord:
            return tuple(_case_part(judged) for judged in self.judged_cases)
        return self.experiments if kind is ExperimentsRecord else ()

    @property
    def claims(self) -> tuple[Part, ...]:
        return tuple(
            self._part("claim", claim, claim.name, claim.sentence, findings=claim.findings)
            for claim in self.loaded.claims
        )

    @property
    def experiments(self) -> tuple[Part, ...]:
        return tuple(
            self._part("experiment", item, item.id, f"{item.question} {item.kind}: {item.sentence}")
            for item in self.loaded.experiments
        )

    def _part(
        self,
        kind: PartKind,
        item: Claim | ExperimentRecord,
        name: str,
        sentence: str,
        findings: tuple[Finding, ...] = (),
    ) -> Part:
        return Part(
            kind=kind,
            name=name,
            outcome=self._judge(item.outcome, item.evidence),
            sentence=sentence,
            evidence=item.evidence,
            holds=self.holds(item.evidence),
            findings=findings,
        )

    @property
    def judged_cases(self) -> tuple[JudgedCase, ...]:
        return tuple(
            JudgedCase(
                case=case,
                outcome=self._judge(case_outcome(case), case.evidence),
                holds=self.holds(case.evidence),
            )
            for case in self.loaded.cases
        )

    @property
    def environment(self) -> tuple[Fact, ...]:
        """What stages found: the version that was installed, then the facts of the checks."""
        install, checks, registry = self.loaded.install, self.loaded.validate, self.loaded.registry
        facts: dict[str, Fact] = {}
        if install:
            stage = registry.name_of(InstallRecord)
            facts[install.distribution] = Fact(name=install.distribution, value=install.version, stage=stage)
        for name, value in sorted(checks.device_facts.items()) if checks else ():
            facts.setdefault(name, Fact(name=name, value=value, stage=registry.name_of(ValidateRecord)))
        return tuple(facts.values())

    def _judge(self, outcome: Outcome, evidence: tuple[Evidence, ...]) -> Outcome:
        return outcome if self.holds(evidence) else Outcome.ERROR


def _case_part(judged: JudgedCase) -> Part:
    case = judged.case
    return Part(
        kind="case",
        name=f"{case.check} · {case.model} · {case.arm}",
        outcome=judged.outcome,
        sentence=case_sentence(case),
        evidence=case.evidence,
        holds=judged.holds,
        facts=tuple(flatten(case.observations)),
    )


def arrange_by_arm(cases: Iterable[JudgedCase]) -> tuple[CaseRow, ...]:
    """Put the arms of each check and model beside each other."""
    by_place = {(judged.case.check, judged.case.model, judged.case.arm): judged for judged in cases}
    pairs = dict.fromkeys((check, model) for check, model, _ in by_place)
    return tuple(
        CaseRow(check=check, model=model, arms=tuple(by_place.get((check, model, arm)) for arm in Arm))
        for check, model in pairs
    )
