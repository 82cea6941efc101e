"""serve-check: the rounds of all arms on one device, in their order, until the verdict cannot change or time is up."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from backproof.core.model import Arm
from backproof.records.serving import ServeRecord
from backproof.serving import arms
from backproof.serving.testbed import Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.core.model import Evidence
    from backproof.kit.serving import Serve
    from backproof.records.serving import Round
    from backproof.serving.testbed import Testbed


@dataclass(kw_only=True, slots=True)
class _Going:
    """What there is so far."""

    rounds: list[Round] = field(default_factory=list)
    evidence: dict[tuple[Arm, int], tuple[Evidence, ...]] = field(default_factory=dict)
    not_run: list[str] = field(default_factory=list)
    longest: float = 0.0


def check(bed: Testbed, serve: Serve, arguments: Sequence[str], which: Sequence[Arm], *, seed: int = 0) -> ServeRecord:
    """All rounds of one [[serve]]."""
    going = _Going()
    for arm, number in arms.sequence(serve, which, seed):
        if why := _stop(bed, serve, going):
            going.not_run.append(f"{serve.id} on {arm}, round {number}: {why}")
            continue
        begun = time.monotonic()
        place = f"{bed.folder}/{serve.id}/{arm}-{number}"
        done = bed.round(Slot(serve=serve, arguments=tuple(arguments), arm=arm, number=number, place=place))
        going.longest = max(going.longest, time.monotonic() - begun)
        going.rounds.append(done)
        going.evidence[arm, number] = bed.evidence(place, done)
    return ServeRecord(
        device_facts=dict(bed.facts),
        inventory=bed.session.inventory,
        rounds=tuple(going.rounds),
        cases=arms.cases(serve, going.rounds, going.evidence),
        not_run=tuple(going.not_run),
        evidence=tuple(each for found in going.evidence.values() for each in found),
    )


def _stop(bed: Testbed, serve: Serve, going: _Going) -> str:
    """Why nothing more is worth its time; empty to go on."""
    if any(each.spoiled for each in going.rounds):
        return "a card went bad: look at the host first"
    verdicts = {each.verdict for each in arms.cases(serve, going.rounds, {})}
    if "failed" in verdicts:
        return "the verdict cannot change any more: the backport failed"
    base = [each for each in going.rounds if each.arm is Arm.BASE]
    tried = len(base) == serve.repeats
    if bed.budget.limit is not None and tried and "not-discriminating" in verdicts:
        return "base does not show the fault, so nothing further can make this a pass; the budget is kept"
    if not bed.budget.allows(going.longest):
        return f"the budget is spent ({bed.budget.left:.0f} s left, a round took {going.longest:.0f} s)"
    return ""
