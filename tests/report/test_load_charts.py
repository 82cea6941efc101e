"""Load curves: the failing step is marked, numbers are text, and nothing is said of a device that was not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm
from backproof.records.serving import Load, LoggedFault, Round, ServeRecord, Spread, Step
from backproof.report import render
from backproof.report.load_charts import draw_charts
from hypothesis import given
from hypothesis import strategies as st
from stories import Folder, plan, proved

from tests.report.test_render_comment import load_judged
from tests.report.test_render_page import Reader

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


def test_the_failing_step_is_marked_where_it_was() -> None:
    rate, wait = draw_charts(record())
    base, fixed = rate.curves
    assert [each.failed for each in base.spots] == [False, False, True]
    assert base.spots[2].x == fixed.spots[2].x == rate.across[2][0]
    assert base.spots[2].title == "base, round 1, 16 at once: 0 tokens/s, failed"
    assert "base, round 1: failed at 16 at once, held up to 4." in rate.sentence
    assert wait.curves[0].spots[2].title.endswith("not measured, failed"), "a failure without a measure is still marked"
    assert len(wait.curves[0].line.split()) == 2, "and no line leads down to it"


@given(st.lists(st.floats(0, 1e9, allow_nan=False), min_size=1, max_size=8))
def test_every_spot_is_inside_and_more_is_higher(rates: list[float]) -> None:
    steps = [step(2**index, rate=rate) for index, rate in enumerate(rates)]
    chart = draw_charts(ServeRecord(rounds=(a_round(Arm.FIXED, *steps),)))[0]
    spots = sorted(zip(rates, (each.y for each in chart.curves[0].spots), strict=True))
    assert all(20 <= y <= 220 for _, y in spots)
    assert [y for _, y in spots] == sorted((y for _, y in spots), reverse=True)


def test_the_page_says_each_number_and_that_no_device_was_there(tmp_path: Path) -> None:
    made = render.render_page(load_judged(with_load(tmp_path)), plan())
    read = Reader(made)
    assert read.open == []
    for each in ("1250.5", "70.0, 140.0", "16.0, 0.0, 12.5", "device 5 read outside", "64 at once: the budget ended"):
        assert each in read.text
    assert "No device stands behind these rounds" in read.text
    assert made.count('<path class="failed" d="M') == 3, "one in each chart, and the key's"


def test_a_round_that_took_no_step_draws_nothing_and_is_told(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    whole = ServeRecord(rounds=(a_round(Arm.BASE, observed="error", why="the port was taken"),))
    assert draw_charts(whole) == ()
    folder.stage("serve", evidence=(folder.record("serve", whole),))
    assert "no step was taken: the port was taken" in Reader(render.render_page(load_judged(folder), plan())).text
