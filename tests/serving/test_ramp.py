"""A served model under load: each way to fail, against a real process that fails in that way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import PlanError
from backproof.core.time_budget import TimeBudget
from backproof.serving import ramp
from services import context, serve

if TYPE_CHECKING:
    from backproof.records.serving import Round


def ramped(folder: Path, *arguments: str, **facts: Any) -> Round:
    return ramp.run_round(context(folder, serve(*arguments, **facts)))


def test_a_service_that_holds_passes_with_numbers(tmp_path: Path) -> None:
    done = ramped(tmp_path)
    assert (done.observed, done.complete, done.exit_code) == ("pass", True, None)
    assert [step.concurrency for step in done.steps] == [1, 2, 4, 8]
    assert [step.ok for step in done.steps] == [3, 4, 8, 16]
    last = done.steps[-1]
    assert last.same == 16
    assert last.ttft is not None
    assert last.tpot is not None
    assert 0 < last.ttft.p50 <= last.ttft.p99
    assert 2 < last.tpot.p50 < 200
    assert last.token_rate > done.steps[0].token_rate
    assert last.load.source == "metrics"
    assert last.load.cache_percent == pytest.approx(1.1)


def test_the_log_tells_the_load_where_metrics_do_not(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--no-metrics", concurrency=(1, 4))
    load = done.steps[-1].load
    assert (load.source, load.running, load.waiting, load.cache_percent) == ("log", 4, 0, 1.1)


def test_a_crash_at_eight_ends_the_ladder_there_and_names_the_first_fault(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--crash-at", "8", concurrency=(1, 2, 4, 8, 16))
    assert (done.observed, done.failed_at, done.reached) == ("fault:mte-out-of-range", 8, 4)
    assert [step.concurrency for step in done.steps] == [1, 2, 4, 8]
    assert done.steps[-1].unsent > 0
    assert done.exit_code == 1
    assert done.first_fault is not None
    assert "plog-" in done.first_fault.where
    assert done.first_fault.where.endswith(":2")
    assert (tmp_path / "triage.json").exists()


@pytest.mark.parametrize(
    ("flag", "observed", "message"),
    [
        ("--oom-at", "fault:oom", "the first fault is at"),
        ("--plain-exit-at", "fault:crash", "ended with code 3"),
        ("--kill-at", "error", "killed from outside (signal 9)"),
        ("--refuse-at", "fault:request-failed", "first error"),
        ("--cut-at", "fault:request-failed", "first cut"),
        ("--corrupt-at", "fault:silent", "no request failed"),
        ("--garbage-at", "fault:silent", "one token 12 times in a row"),
    ],
)
def test_each_way_to_fail_has_its_own_word(tmp_path: Path, flag: str, observed: str, message: str) -> None:
    tokens = 24 if flag == "--garbage-at" else 12
    done = ramp.run_round(
        replace(context(tmp_path, serve(flag, "4", concurrency=(1, 2, 4), max_tokens=tokens)), settle=0.5)
    )
    assert (done.observed, done.failed_at) == (observed, 4)
    assert message.replace("12 times", "24 times") in done.why


def test_a_hang_is_told_in_time_and_is_not_called_slow(tmp_path: Path) -> None:
    done = ramp.run_round(
        replace(context(tmp_path, serve("--hang-at", "4", stall=1, concurrency=(1, 2, 4))), settle=0.2)
    )
    assert (done.observed, done.failed_at) == ("fault:stalled", 4)
    assert "no byte for 1 s" in done.why
    assert done.steps[-1].seconds < 8


def test_slow_is_not_broken(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--slow", "0.006", stall=2, concurrency=(1, 4))
    assert done.observed == "pass"
    one, four = done.steps
    assert one.tpot is not None
    assert four.tpot is not None
    assert four.tpot.p50 > 2 * one.tpot.p50


def test_rounding_at_a_tie_is_no_corruption(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--tie-at", "4", concurrency=(1, 2, 4))
    assert done.observed == "pass"
    assert [step.ties for step in done.steps][:2] == [0, 0]
    assert done.steps[-1].ties > 0


def test_a_service_that_must_be_exact_may_not_even_round(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--tie-at", "4", concurrency=(1, 2, 4), exact=True)
    assert done.observed == "fault:silent"


def test_without_likelihoods_a_difference_is_no_verdict(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--no-logprobs", "--corrupt-at", "4", concurrency=(1, 4))
    assert done.observed == "error"
    assert "rounding cannot be ruled out" in done.why
    assert ramped(tmp_path / "fine", "--no-logprobs", concurrency=(1, 4)).observed == "pass"


def test_no_text_at_all_is_corruption_already_alone(tmp_path: Path) -> None:
    done = ramped(tmp_path, "--always-garbage", max_tokens=32)
    assert (done.observed, done.failed_at) == ("fault:silent", 1)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--never-ready", "not healthy after 1 s"),
        ("--end-at-start", "it ended with code 1; its log ends with: ValueError: no such model"),
    ],
)
def test_a_service_that_does_not_start_is_an_error(tmp_path: Path, flag: str, message: str) -> None:
    done = ramped(tmp_path, flag, ready=1 if flag == "--never-ready" else 20)
    assert (done.observed, done.steps) == ("error", ())
    assert message in done.why


def test_a_service_that_somebody_else_started_is_loaded_by_its_address(tmp_path: Path) -> None:
    from backproof.serving import service

    plan = serve(concurrency=(1, 2))
    command, port = service.build_command(plan, (), {})
    with service.start_service(plan, command, port, env={}, folder=tmp_path, say=lambda _: None) as running:
        done = ramp.run_round(context(tmp_path / "round", plan, url=running.url, logs=None))
    assert (done.origin, done.observed) == ("url", "pass")


def test_the_command_is_the_plans_with_its_open_words_filled_in() -> None:
    from backproof.serving import service

    words = {"python": "/opt/py", "model": "/weights"}
    graph = '{"cudagraph_mode":"FULL_DECODE_ONLY"}'
    plan = serve(command=("{python}", "-m", "x", "{model}"))
    command, port = service.build_command(plan, ("--port=8027", "--compilation-config", graph), words)
    assert command == ("/opt/py", "-m", "x", "/weights", "--port=8027", "--compilation-config", graph)
    assert port == 8027
    command, port = service.build_command(plan, (), words)
    assert command[-2:] == ("--port", str(port))
    with pytest.raises(PlanError, match=r"needs \{model\}"):
        service.build_command(plan, (), {"python": "p", "model": ""})


def test_a_stopped_round_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = ramped(tmp_path)
    part = whole.model_copy(update={"steps": whole.steps[:2], "complete": False, "observed": ""})
    plan = serve("--crash-at", "8")
    resumed = ramp.run_round(context(tmp_path, plan, earlier=part))
    assert resumed.steps[:2] == part.steps
    assert resumed.failed_at == 8
    assert ramp.run_round(context(tmp_path, plan, earlier=resumed)) == resumed
    other = ramp.run_round(context(tmp_path, serve(), earlier=resumed, digest="another host"))
    assert other.observed == "pass"
    assert other.steps[0] != resumed.steps[0]


def test_a_budget_tries_the_step_that_fails_before_the_others(tmp_path: Path) -> None:
    plan = serve("--crash-at", "8", fails_at=8, concurrency=(1, 2, 4, 8, 16))
    done = ramp.run_round(context(tmp_path, plan, budget=TimeBudget(limit=60).start()))
    assert [step.concurrency for step in done.steps] == [1, 8]
    assert done.observed == "fault:mte-out-of-range"


def test_a_spent_budget_leaves_the_round_open(tmp_path: Path) -> None:
    plan = serve(fails_at=8)
    done = ramp.run_round(context(tmp_path, plan, budget=TimeBudget(limit=60, clock=_Clock(step=8)).start()))
    assert not done.complete
    assert "the budget left out" in done.why
    assert 0 < len(done.steps) < 4


class _Clock:
    def __init__(self, step: float) -> None:
        self.now = 0.0
        self.step = step

    def __call__(self) -> float:
        self.now += self.step
        return self.now
