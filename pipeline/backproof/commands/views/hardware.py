"""How results of hardware commands are shown as text: one line each, no control in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.commands.output import print_line

if TYPE_CHECKING:
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.serving import Round, ServeRecord


def print_rounds(found: ServeRecord) -> None:
    for each in found.rounds:
        _print_round(each)
    for case in found.cases:
        print_line(case.sentence)
    for why in found.not_run:
        print_line(f"not run: {why}")


def _print_round(found: Round) -> None:
    print_line(
        f"{found.serve} on {found.arm}, round {found.number}: {found.observed}{' (incomplete)' if not found.complete else ''}"
    )
    for step in found.steps:
        ttft = f"{step.ttft.p50:.0f}/{step.ttft.p99:.0f}" if step.ttft else "-"
        tpot = f"{step.tpot.p50:.1f}/{step.tpot.p99:.1f}" if step.tpot else "-"
        cache = f"{step.load.cache_percent:.1f} %" if step.load.cache_percent is not None else "-"
        print_line(
            f"  {step.concurrency:>3} at once: {step.ok} ok, {step.failed} failed, {step.token_rate:.1f} tokens/s, "
            f"TTFT {ttft} ms, TPOT {tpot} ms (p50/p99), cache {cache}: {step.outcome}"
        )


def print_experiment(found: ExperimentRecord) -> None:
    print_line(f"{found.id}: {found.question}")
    print_line(f"  differs in {found.difference}")
    for side in found.sides:
        rates = ", ".join(f"{load} at once: {failed}/{ran}" for load, (failed, ran) in side.by_load.items())
        print_line(
            f"  {side.label} on {side.arm}: failed {side.failed} of {side.ran}, {side.not_counted} not counted ({rates})"
        )
    print_line(f"  {found.kind}: {found.sentence}")
    if found.stopped:
        print_line(f"  stopped: {found.stopped}")
    if found.stand_in:
        print_line("  no device was there: this shows nothing of one")
