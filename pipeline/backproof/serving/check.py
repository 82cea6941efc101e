"""serve-check: the rounds of all arms on one device, until the verdict cannot change or time is up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.model import Arm
from backproof.records.serving import ServeRecord
from backproof.serving import arms
from backproof.serving.round_context import RoundSpec
from backproof.serving.schedule import run_rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.kit.serving import Serve
    from backproof.records.serving import Round
    from backproof.serving.testbed import Testbed


def check_serving(
    testbed: Testbed, serve: Serve, arguments: Sequence[str], which: Sequence[Arm], *, seed: int = 0
) -> ServeRecord:
    """Run all rounds of one [[serve]]."""
    schedule = [
        RoundSpec(
            serve=serve,
            arguments=tuple(arguments),
            arm=arm,
            number=number,
            group=serve.id,
            label=arm.value,
        )
        for arm, number in arms.order_rounds(serve, which, seed)
    ]
    progress = run_rounds(testbed, schedule, lambda so_far: _find_decision(testbed, serve, so_far.rounds))
    return ServeRecord(
        device_facts=dict(testbed.facts),
        inventory=testbed.session.inventory,
        rounds=tuple(progress.rounds),
        cases=arms.judge_arms(serve, progress.rounds, progress.evidence),
        not_run=tuple(f"{spec.name}: {progress.stopped}" for spec in progress.left_out),
        evidence=progress.all_evidence,
    )


def _find_decision(testbed: Testbed, serve: Serve, rounds: Sequence[Round]) -> str:
    """Return why the verdict cannot get better or worse any more; empty while it can."""
    verdicts = {case.verdict for case in arms.judge_arms(serve, rounds, {})}
    if "failed" in verdicts:
        return "the verdict cannot change any more: the backport failed"
    tried = sum(done.arm is Arm.BASE for done in rounds) == serve.repeats
    if testbed.budget.limit is not None and tried and "not-discriminating" in verdicts:
        return "base does not show the fault, so nothing further can make this a pass; the budget is saved"
    return ""
