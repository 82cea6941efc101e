"""Rounds of several arms compared: their order, whether they may be compared, and what they mean."""

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
    from backproof.records.proof import Verdict
    from backproof.records.serving import Round

MODEL = "serve"
"""Stands in a case where a check has its operator model."""


def order_rounds(serve: Serve, arms: Sequence[Arm], seed: int) -> tuple[tuple[Arm, int], ...]:
    """Return arm and number of each round. A host that warms up or wears out must not look like a difference of arms."""
    rounds = [(arm, number) for number in range(1, serve.repeats + 1) for arm in arms]
    if serve.order == "random":
        random.Random(seed).shuffle(rounds)  # noqa: S311 - the seed is in the record, so that anybody gets this order
    if serve.order == "listed":
        rounds.sort(key=lambda pair: arms.index(pair[0]))
    return tuple(rounds)


def explain_incomparable(rounds: Sequence[Round]) -> str:
    """Return why these rounds must not be compared; empty when they come from one host in one boot."""
    places = sorted({(done.host, done.boot_id) for done in rounds})
    if len(places) < 2:
        return ""
    listed = ", ".join(f"{host} in boot {boot[:8]}" for host, boot in places)
    return f"the rounds come from {len(places)} hosts or boots ({listed}): they are not compared"


def judge_arms(
    serve: Serve, rounds: Sequence[Round], evidence: Mapping[tuple[Arm, int], tuple[Evidence, ...]]
) -> tuple[Case, ...]:
    """Return one case per arm over all its rounds."""
    refusal = explain_incomparable(rounds)
    base = [done for done in rounds if done.arm is Arm.BASE]
    needed = min((done.failed_at for done in base if done.failed_at), default=max(serve.concurrency))
    cases: list[Case] = []
    for arm in Arm:
        own = [done for done in rounds if done.arm is arm]
        if not own:
            continue
        observed, why = ("error", refusal) if refusal else _summarise_rounds(serve, arm, own, needed)
        proof = tuple(item for done in own for item in evidence.get((arm, done.number), ()))
        # Another fault than base's is worse, too: a crash that became wrong numbers.
        worse = any(case.arm is Arm.BASE and case.observed not in {observed, "error"} for case in cases)
        verdict = judge.judge(serve.expect.role, arm, serve.expect.for_arm(arm), observed, worse=worse)
        cases.append(_build_case(serve, own, verdict, (observed, why + _describe_chance(base, arm, own)), proof))
    return tuple(cases)


def _summarise_rounds(serve: Serve, arm: Arm, rounds: Sequence[Round], needed: int) -> tuple[str, str]:
    """Return one word over the rounds of an arm, and why. After a card went bad, no result counts."""
    if spoiled := next((done.spoiled for done in rounds if done.spoiled), ""):
        return "error", spoiled
    faults = [done for done in rounds if done.observed.startswith("fault:")]
    if arm is Arm.BASE:
        # The expected fault, if any round had it: another fault beside it is a fact, too, but not the first.
        faults.sort(key=lambda done: done.observed != serve.expect.base)
    if faults:
        return faults[0].observed, faults[0].why
    if bad := next((done for done in rounds if done.observed != "pass"), None):
        return "error", bad.why
    short = next((done for done in rounds if not done.complete and done.reached < needed), None)
    if short:
        return "error", f"it only reached {short.reached} at once, {needed} are needed: {short.why}"
    return "pass", f"held up to {min(done.reached for done in rounds)} at once"


def _describe_chance(base: Sequence[Round], arm: Arm, own: Sequence[Round]) -> str:
    """Return the numbers of a flaky outcome."""
    if len(own) < 2 and len(base) < 2:
        return ""
    failed = sum(done.observed.startswith("fault:") for done in own)
    text = f" ({failed} of {len(own)} rounds failed"
    if arm is not Arm.BASE and base:
        before = sum(done.observed.startswith("fault:") for done in base)
        p = fisher.compute_exact_p(failed, len(own), before, len(base))
        text += f", {before} of {len(base)} on base; Fisher's exact p = {p:.3g}"
    return f"{text})"


def _build_case(
    serve: Serve, rounds: Sequence[Round], verdict: Verdict, result: tuple[str, str], evidence: tuple[Evidence, ...]
) -> Case:
    (observed, why), arm = result, rounds[0].arm
    failed = [done for done in rounds if done.failed_at is not None]
    return Case(
        check=serve.id,
        model=MODEL,
        arm=arm,
        role=serve.expect.role,
        expected=serve.expect.for_arm(arm),
        observed=observed,
        verdict=verdict,
        sentence=f"{serve.id} on {arm}: {verdict.replace('-', ' ')}: {observed}: {why}"[:2000],
        steps=sum(len(done.steps) for done in rounds),
        steps_failed=len(failed),
        faults={observed.removeprefix("fault:"): len(failed)} if observed.startswith("fault:") else {},
        observations={"failed_at": sorted({done.failed_at for done in failed if done.failed_at})},
        first=next((done.first_fault.verdict for done in failed if done.first_fault), "")[:1000],
        seconds=round(sum(step.seconds for done in rounds for step in done.steps), 3),
        evidence=evidence,
    )
