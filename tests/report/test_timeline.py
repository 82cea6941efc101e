"""The timeline: rows, folded silences, numbers as text; and the page that `triage --html` writes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from backproof.records.triage import Point
from backproof.report import render
from backproof.report.broken_axis import Axis, describe_length
from backproof.report.timeline import Timeline
from backproof.triage import TriageResult, triage
from hypothesis import given
from hypothesis import strategies as st
from pages import Reader

SECOND = 1_000_000
ZERO = 1_793_700_902_118_204
FAULT = "[ERROR] RUNTIME(7,):2027-02-14-10:00:00.000.{us:03d} [stars_engine.cc:1]8 ProcLogicCqReport:Task run failed, device_id={rank}, stream_id=2, task_id=3, sqe_type=0(ffts), errType=0x1(task exception){more}\n"


def result(*points: tuple[int, str, str], **changes: Any) -> TriageResult:
    """A result that is empty but for its timeline."""
    facts: dict[str, Any] = dict.fromkeys(TriageResult.model_fields, ())
    facts |= dict.fromkeys(("first_fault", "code", "device", "rank", "kernel", "server", "earliest_error"), None)
    facts |= {
        "subject": "",
        "peer": "",
        "schema_version": 2,
        "outcome": "first-fault",
        "verdict": "rank 2 failed",
        "confidence": "high",
    }
    facts |= {"advice": "look", "lists_complete": True, "counts": {}, "files": 1, "bytes": 9}
    drawn = [
        Point(us=us, lane=lane, role=role, where=f"{lane}.log:{index}")
        for index, (us, lane, role) in enumerate(points, 1)
    ]
    return TriageResult.model_validate(facts | {"timeline": tuple(drawn)} | changes)


def drawn(*points: tuple[int, str, str]) -> Timeline:
    found = Timeline.of(result(*points))
    assert found is not None
    return found


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=60))
def test_time_never_runs_backwards_and_stays_inside(times: list[int]) -> None:
    axis = Axis.of(times, left=100, right=900)
    places = [axis.at(each) for each in sorted(times)]
    assert places == sorted(places)
    assert all(100 <= each <= 900.1 for each in places)


def test_a_long_silence_is_folded_and_says_its_length() -> None:
    axis = Axis.of([0, SECOND, 3601 * SECOND, 3602 * SECOND], left=0, right=900)
    assert [said for _, said in axis.folds] == ["1 h"]
    assert axis.at(SECOND) - axis.at(0) > 300, "the burst before the silence has room"
    assert Axis.of([0, 5, 10, 15], left=0, right=900).folds == (), "even steps have no silence"


@pytest.mark.parametrize(("us", "said"), [(0, "0 s"), (999, "999 µs"), (883_237, "883.2 ms"), (120_000_000, "2 min")])
def test_a_length_has_the_unit_that_people_use(us: int, said: str) -> None:
    assert describe_length(us) == said


def test_rows_are_in_the_order_of_their_numbers_and_name_what_is_first_there() -> None:
    chart = drawn(
        (ZERO, "rank 2", "first-fault"),
        (ZERO + 50_964, "rank 10", "secondary"),
        (ZERO + 90_000, "rank 10", "secondary"),
    )
    assert [each.name for each in chart.lanes] == ["rank 2", "rank 10"]
    assert (chart.lanes[1].offset, chart.lanes[1].counts) == ("50.96 ms after", (("secondary", 2),))
    assert chart.fault is not None
    assert chart.fault[1] == chart.lanes[0].y


def test_the_row_of_the_fault_is_drawn_when_not_all_rows_are() -> None:
    chart = drawn(*((ZERO + n, f"rank {n}", "secondary") for n in range(90)), (ZERO, "rank 89", "first-fault"))
    assert chart.more == 26
    assert chart.lanes[0].name == "rank 89"
    assert chart.fault is not None


def test_marks_that_lie_on_each_other_are_one_with_their_count() -> None:
    chart = drawn((ZERO, "rank 0", "first-fault"), *((ZERO + SECOND + n, "rank 0", "secondary") for n in range(500)))
    secondary = [each for each in chart.lanes[0].marks if each.role == "secondary"]
    assert sum(each.count for each in secondary) == 500
    assert len(secondary) < 250
    assert chart.lanes[0].marks[-1].role == "first-fault", "what is drawn last is on top"


def test_without_a_clock_nothing_is_drawn_and_the_page_says_so() -> None:
    assert Timeline.of(result()) is None
    assert "nothing to draw" in render.render_triage_page(result(outcome="healthy"))


def test_the_page_has_each_number_as_text() -> None:
    read = Reader(
        render.render_triage_page(result((ZERO, "rank 2", "first-fault"), (ZERO + 883_237, "rank 0", "secondary")))
    )
    assert read.open == []
    assert "First fault found" in read.text
    assert re.search(r"rank 0\s*2026-11-03 10:15:03\.001441\s*883\.2 ms after\s*rank 0\.log:2\s*secondary 1", read.text)
    assert "the first fault is in the row rank 2" in read.text


def test_the_command_writes_the_page_and_hostile_logs_stay_text(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    for rank in range(3):
        folder = logs / f"rank{rank}" / "<script>alert(1)</script>"
        folder.mkdir(parents=True)
        text = FAULT.format(us=rank, rank=rank, more="</svg><script>alert(1)</script>\x1b[31m")
        (folder / f"plog-{rank}_20270214100000001.log").write_text(text)
    out = tmp_path / "page.html"
    command = [sys.executable, "-m", "backproof", "triage", str(logs), "--html", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    made = out.read_text("utf-8")
    read = Reader(made)
    assert read.open == []
    assert "script" not in read.tags
    assert "</svg><script>" in read.text
    assert triage([logs]).verdict in read.text
