"""What a verdict rests on, and what each stage and each case is worth on its own. No I/O.

A stage's word is not enough: a pass whose evidence is missing or altered, or whose record cannot be read, is "could
not tell"; a check that does not tell the arms apart proves nothing, whatever the stage made of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.model import Arm, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pipeline.model import Evidence
    from pipeline.records import (
        Case,
        Claim,
        DeviceInventory,
        FixupRecord,
        PickRecord,
        StageResult,
        ValidateRecord,
        VerifyRecord,
    )

AFTERWARDS = frozenset({"report", "publish"})
"""Stages that tell of the proof and are no part of it."""
_RECORDED = ("pick", "fixup", "verify", "validate")


@dataclass(frozen=True, kw_only=True, slots=True)
class Basis:
    """What a verdict rests on: the stages' results, the records that hold, and the paths that do not."""

    stages: tuple[StageResult, ...]
    pick: PickRecord | None
    fixup: FixupRecord | None
    verify: VerifyRecord | None
    validate: ValidateRecord | None
    inventory: DeviceInventory | None
    altered: frozenset[str]

    def intact(self, evidence: tuple[Evidence, ...]) -> bool:
        """Whether there is evidence, all of it as recorded."""
        return bool(evidence) and not any(each.path in self.altered for each in evidence)

    @property
    def claims(self) -> tuple[Claim, ...]:
        return self.verify.claims if self.verify else ()

    @property
    def cases(self) -> tuple[Case, ...]:
        return self.validate.cases if self.validate else ()


def stage_outcome(stage: StageResult, basis: Basis) -> Outcome:
    """The stage's own outcome, unless it is a pass that nothing shows any more."""
    if stage.outcome is not Outcome.PASS:
        return stage.outcome
    unread = stage.stage in _RECORDED and getattr(basis, stage.stage) is None
    return Outcome.PASS if basis.intact(stage.evidence) and not unread else Outcome.ERROR


def passed(basis: Basis, name: str) -> bool:
    """Whether the stage passed and its evidence still shows it."""
    return any(each.stage == name and stage_outcome(each, basis) is Outcome.PASS for each in basis.stages)


def case_outcome(case: Case) -> Outcome:
    """What one case means for the backport. Whatever base does, it is not the backport's fault."""
    if case.verdict == "error":
        return Outcome.ERROR
    if case.role == "proof" and case.arm is Arm.BASE and case.observed == "pass":
        return Outcome.INCONCLUSIVE
    if case.verdict == "as-expected":
        return Outcome.PASS
    if case.arm is Arm.BASE or case.verdict in {"not-discriminating", "not-reproduced"}:
        return Outcome.INCONCLUSIVE
    return Outcome.FAIL


def proofs(cases: Iterable[Case]) -> tuple[tuple[str, str], ...]:
    """The (check, model) pairs that are red on base and green on fixed."""
    seen = {(each.check, each.model, each.arm): each.observed for each in cases if each.role == "proof"}
    return tuple(
        (check, model)
        for check, model, arm in seen
        if arm is Arm.BASE and seen[check, model, arm] != "pass" and seen.get((check, model, Arm.FIXED)) == "pass"
    )
