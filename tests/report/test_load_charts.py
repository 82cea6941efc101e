"""Load curves: the failing step is marked, numbers are text, and nothing is said of a device that was not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.model import Arm
from backproof.records.serving import ServeRecord
from backproof.report import render
from backproof.report.load_charts import draw_charts
from hypothesis import example, given
from hypothesis import strategies as st
from loads import a_round, record, step, with_load
from pages import Reader
from run_kinds import load_judged
from stories import plan, proved

if TYPE_CHECKING:
    from pathlib import Path


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
@example([5e-324])
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
