"""Rounds of several arms held against each other: their order, whether they may be compared, and what they mean."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from backproof.core.model import Arm
from backproof.records.proof import Case
from backproof.verdict import fisher, judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Evidence
    from backproof.kit.serving import Serve
    from backproof.records.serving import Round

MODEL = "serve"
"""What stands in a case where a check has its operator model."""


def sequence(serve: Serve, arms: Sequence[Arm], seed: int) -> tuple[tuple[Arm, int], ...]:
    """Which arm runs when. A host that warms up or wears out over an hour must not look like a difference of arms."""
    rounds = [(arm, number) for number in range(1, serve.repeats + 1) for arm in arms]
    if serve.order == "random":
        random.Random(seed).shuffle(rounds)  # noqa: S311 - the seed is in the record, so that anybody gets this order
    if serve.order == "listed":
        rounds.sort(key=lambda each: arms.index(each[0]))
    return tuple(rounds)


def incomparable(rounds: Sequence[Round]) -> str:
    """Why these rounds must not be compared; empty when they come from one host in one boot."""
    places = sorted({(each.host, each.boot_id) for each in rounds})
    if len(places) < 2:
        return ""
    shown = ", ".join(f"{host} in boot {boot[:8]}" for host, boot in places)
    return f"the rounds come from {len(places)} hosts or boots ({shown}): they are not compared"


def cases(
    serve: Serve, rounds: Sequence[Round], evidence: Mapping[tuple[Arm, int], tuple[Evidence, ...]]
) -> tuple[Case, ...]:
    """One case per arm over all its rounds."""
    refused = incomparable(rounds)
    base = [each for each in rounds if each.arm is Arm.BASE]
    needed = min((each.failed_at for each in base if each.failed_at), default=max(serve.concurrency))
    found = []
    for arm in Arm:
        own = [each for each in rounds if each.arm is arm]
        if not own:
            continue
        observed, why = ("error", refused) if refused else _observed(serve, arm, own, needed)
        proof = tuple(each for number in own for each in evidence.get((arm, number.number), ()))
        found.append(_case(serve, own, (observed, why + _chance(base, arm, own)), proof))
    return tuple(found)


def _observed(serve: Serve, arm: Arm, rounds: Sequence[Round], needed: int) -> tuple[str, str]:
    """One word over the rounds of an arm. A bad card says nothing, whatever it showed."""
    if spoiled := next((each.spoiled for each in rounds if each.spoiled), ""):
        return "error", spoiled
    faults = [each for each in rounds if each.observed.startswith("fault:")]
    if arm is Arm.BASE:
        # The fault that is looked for, if any round had it: another fault beside it is a fact, too, but not the first.
        faults.sort(key=lambda each: each.observed != serve.expect.base)
    if faults:
        return faults[0].observed, faults[0].why
    if bad := next((each for each in rounds if each.observed != "pass"), None):
        return "error", bad.why
    short = next((each for each in rounds if not each.complete and each.reached < needed), None)
    if short:
        return "error", f"it only reached {short.reached} at once, {needed} are needed: {short.why}"
    return "pass", f"held up to {min(each.reached for each in rounds)} at once"


def _chance(base: Sequence[Round], arm: Arm, own: Sequence[Round]) -> str:
    """The numbers of a flaky outcome."""
    if len(own) < 2 and len(base) < 2:
        return ""
    failed = sum(each.observed.startswith("fault:") for each in own)
    said = f" ({failed} of {len(own)} rounds failed"
    if arm is not Arm.BASE and base:
        before = sum(each.observed.startswith("fault:") for each in base)
        p = fisher.exact(failed, len(own), before, len(base))
        said += f", {before} of {len(base)} on base; Fisher's exact p = {p:.3g}"
    return f"{said})"


def _case(serve: Serve, rounds: Sequence[Round], showed: tuple[str, str], evidence: tuple[Evidence, ...]) -> Case:
    (observed, why), arm = showed, rounds[0].arm
    verdict = judge.judge(serve.expect, arm, observed)
    failed = [each for each in rounds if each.failed_at is not None]
    return Case(
        check=serve.id,
        model=MODEL,
        arm=arm,
        role=serve.expect.role,
        expected=serve.expect.of(arm),
        observed=observed,
        verdict=verdict,
        sentence=f"{serve.id} on {arm}: {verdict.replace('-', ' ')}: {observed}: {why}"[:2000],
        steps=sum(len(each.steps) for each in rounds),
        steps_failed=len(failed),
        faults={observed.removeprefix("fault:"): len(failed)} if observed.startswith("fault:") else {},
        observations={"failed_at": sorted({each.failed_at for each in failed if each.failed_at})},
        first=next((each.scene.verdict for each in failed if each.scene), "")[:1000],
        seconds=round(sum(step.seconds for each in rounds for step in each.steps), 3),
        evidence=evidence,
    )
