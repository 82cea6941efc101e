"""Results of hardware commands as text: one line each, without control characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.commands.output import print_line

if TYPE_CHECKING:
    from backproof.records.experiment import ExperimentRecord
    from backproof.records.serving import Round, ServeRecord


def print_rounds(record: ServeRecord) -> None:
    for done in record.rounds:
        _print_round(done)
    for case in record.cases:
        print_line(case.sentence)
    for why in record.not_run:
        print_line(f"not run: {why}")


def _print_round(done: Round) -> None:
    incomplete = "" if done.complete else " (incomplete)"
    print_line(f"{done.serve} on {done.arm}, round {done.number}: {done.observed}{incomplete}")
    for step in done.steps:
        ttft = f"{step.ttft.p50:.0f}/{step.ttft.p99:.0f}" if step.ttft else "-"
        tpot = f"{step.tpot.p50:.1f}/{step.tpot.p99:.1f}" if step.tpot else "-"
        cache = f"{step.load.cache_percent:.1f} %" if step.load.cache_percent is not None else "-"
        print_line(
            f"  {step.concurrency:>3} at once: {step.ok} ok, {step.failed} failed, {step.token_rate:.1f} tokens/s, "
            f"TTFT {ttft} ms, TPOT {tpot} ms (p50/p99), cache {cache}: {step.outcome}"
        )


def print_experiment(record: ExperimentRecord) -> None:
    print_line(f"{record.id}: {record.question}")
    print_line(f"  differs in {record.difference}")
    for side in record.sides:
        rates = ", ".join(f"{load} at once: {failed}/{ran}" for load, (failed, ran) in side.by_load.items())
        numbers = f"failed {side.failed} of {side.ran}, {side.not_counted} not counted"
        print_line(f"  {side.label} on {side.arm}: {numbers} ({rates})")
    print_line(f"  {record.kind}: {record.sentence}")
    if record.stopped:
        print_line(f"  stopped: {record.stopped}")
    if record.stand_in:
        print_line("  no device was there: this shows nothing of one")
