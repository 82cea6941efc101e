"""Rounds under load for a story."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm
from backproof.records.serving import Load, LoggedFault, Round, ServeRecord, Spread, Step
from stories import Folder, proved

if TYPE_CHECKING:
    from pathlib import Path


def step(load: int, outcome: str = "pass", rate: float = 100.0, p99: float | None = 80.0) -> Step:
    ttft = None if p99 is None else Spread(mean=p99, p50=p99 / 2, p90=p99, p99=p99)
    facts = {"requests": load, "ok": load if outcome == "pass" else 0, "failed": 0, "seconds": 1.5}
    return Step.model_validate(
        {"concurrency": load, "outcome": outcome, "sentence": f"{load} at once: {outcome}", "token_rate": rate}
        | facts
        | {"ttft": ttft, "load": Load(running=load, waiting=0, cache_percent=12.5, source="metrics")}
    )


def a_round(arm: Arm, *steps: Step, number: int = 1, **changes: Any) -> Round:
    facts: dict[str, Any] = {"serve": "decode", "digest": "d", "origin": "started", "command": "vllm serve"}
    facts |= {"host": "h", "boot_id": "b", "complete": True, "observed": "pass"}
    return Round.model_validate({**facts, "arm": arm, "number": number, "steps": steps, **changes})


def record() -> ServeRecord:
    fault = LoggedFault(
        kind="mte-out-of-range", where="plog-1.log:4", verdict="device 5 read outside", confidence="high"
    )
    base = a_round(Arm.BASE, step(1), step(4, rate=350), step(16, "failed", 0, None), first_fault=fault)
    fixed = a_round(Arm.FIXED, step(1), step(4, rate=360), step(16, rate=1250.5, p99=140))
    return ServeRecord(rounds=(base, fixed), not_run=("64 at once: the budget ended",))


def with_load(path: Path) -> Folder:
    folder = proved(path)
    folder.stage("serve", evidence=(folder.record("serve", record()),))
    return folder
