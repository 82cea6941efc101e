"""The chain of claims: what each stage says, in order, what it says in parts, and the evidence for it.

Each evidence file stands in one place only, under the narrowest claim that names it; whatever else rests on it refers to
it by number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.model import Outcome
from backproof.report.excerpts import read_excerpt

if TYPE_CHECKING:
    from backproof.core.model import Evidence, Finding
    from backproof.report.view import Part, RunView, StageView

_EXCERPTS = 400
_SHOWN = 2000
_CASES = 1000
_FACTS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceItem:
    """One evidence file as it is shown; no excerpt of what does not hold."""

    number: int
    evidence: Evidence
    holds: bool
    excerpt: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimNode:
    """One claim: of a stage, or a part of it."""

    stage: str
    name: str
    outcome: Outcome
    sentence: str
    rests_on: tuple[Evidence, ...]
    items: tuple[EvidenceItem, ...]
    findings: tuple[Finding, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    parts: tuple[ClaimNode, ...] = ()
    seconds: float = 0
    reused: bool = False


def build_claim_tree(view: RunView) -> tuple[ClaimNode, ...]:
    """Return every stage of the run, with its claims, cases or experiments as parts of it."""
    builder = _Builder(view)
    return tuple(builder.build_stage(stage) for stage in view.stages)


class _Builder:
    """Hands each evidence file out once."""

    def __init__(self, view: RunView) -> None:
        self.view = view
        self.numbers = {evidence.path: number for number, evidence in enumerate(view.run.evidence, 1)}
        self.free = {path for path, number in self.numbers.items() if number <= _SHOWN}

    def build_stage(self, stage: StageView) -> ClaimNode:
        result = stage.result
        return ClaimNode(
            stage=result.stage,
            name=result.stage,
            outcome=stage.outcome,
            sentence=result.sentence,
            rests_on=result.evidence,
            items=self.take_items(result.evidence),
            parts=tuple(self.build_part(part, result.stage) for part in _put_worst_first(stage.parts)),
            seconds=result.seconds,
            reused=result.reused,
        )

    def build_part(self, part: Part, stage: str) -> ClaimNode:
        return ClaimNode(
            stage=stage,
            name=part.name,
            outcome=part.outcome,
            sentence=part.sentence,
            rests_on=part.evidence,
            items=self.take_items(part.evidence),
            findings=part.findings,
            facts=part.facts[:_FACTS],
        )

    def take_items(self, evidence: tuple[Evidence, ...]) -> tuple[EvidenceItem, ...]:
        items = [item for item in dict.fromkeys(evidence) if item.path in self.free]
        self.free -= {item.path for item in items}
        return tuple(self.show_item(item) for item in items)

    def show_item(self, evidence: Evidence) -> EvidenceItem:
        number, holds, folder = self.numbers[evidence.path], self.view.holds((evidence,)), self.view.loaded.folder
        text = read_excerpt(folder, evidence.path) if holds and number <= _EXCERPTS and folder else ""
        return EvidenceItem(number=number, evidence=evidence, holds=holds, excerpt=text)


def _put_worst_first(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Keep their order, unless there are too many: then those that did not pass come first. The table has the rest."""
    if len(parts) <= _CASES:
        return parts
    return tuple(sorted(parts, key=lambda part: part.outcome is Outcome.PASS)[:_CASES])
