"""One variable at a time, and whether it decides: against a service that fails on demand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import PlanError
from backproof.core.model import Outcome
from backproof.core.time_budget import TimeBudget
from backproof.kit.serving import Experiment
from backproof.serving.experiments.classify import Tally, classify_effect, is_settled
from backproof.serving.experiments.conduct import conduct_experiment, prepare_sides
from backproof.serving.experiments.difference import parse_arguments, remove_argument
from backproof.verdict import fisher
from hypothesis import given
from hypothesis import strategies as st
from services import Target, opened, serve

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.serving import Serve
    from backproof.records.experiment import ExperimentRecord
    from npu_host import FakeHost

MTP = json.dumps({"num_speculative_tokens": 5, "method": "deepseek_mtp"})
GRAPH = json.dumps({"cudagraph_mode": "FULL_DECODE_ONLY", "sizes": [1, 2]})
OFFICIAL = ("--max-num-seqs", "32", "--compilation-config", GRAPH, "--no-enable-prefix-caching", "--port", "8027")


def experiment(variable: str, one: dict[str, Any], other: dict[str, Any], **facts: Any) -> Experiment:
    sides = [{"label": "without", **one}, {"label": "with", **other}]
    given = {"id": "x", "question": "Does it decide?", "serve": "load", "variable": variable, "side": sides}
    return Experiment.model_validate({**given, **facts})


def differing(variable: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    return str(prepare_sides(experiment(variable, one, other), serve(*OFFICIAL), ())[1])


def test_one_variable_is_one_difference() -> None:
    with_mtp = {"add": ["--speculative-config", MTP]}
    assert differing("--speculative-config", {}, with_mtp) == f"--speculative-config: (absent) / {MTP}"
    eager = {"add": ["--compilation-config", json.dumps({"cudagraph_mode": "NONE", "sizes": [1, 2]})]}
    assert differing("--compilation-config", {}, eager) == (
        '--compilation-config.cudagraph_mode: "FULL_DECODE_ONLY" / "NONE"'
    )
    assert differing("--enable-prefix-caching", {}, {"add": ["--enable-prefix-caching"]}) == (
        "--enable-prefix-caching: off / on"
    )
    assert differing("env.HCCL_BUFFSIZE", {}, {"env": {"HCCL_BUFFSIZE": "400"}}).startswith("env.HCCL_BUFFSIZE")
    assert differing("concurrency", {"concurrency": [4]}, {"concurrency": [8]}) == "concurrency: [4] / [8]"
    assert differing("arm", {"arm": "base"}, {"arm": "fixed"}) == "arm: base / fixed"


def test_the_experiment_of_the_post_mortem_is_refused_with_its_four_differences() -> None:
    eager = json.dumps({"cudagraph_mode": "NONE", "sizes": [1, 2]})
    words = f"--port 8028 --max-num-batched-tokens 4096 --enable-prefix-caching --compilation-config {eager}"
    changed = {"add": words.split(maxsplit=6)}
    with pytest.raises(PlanError, match="differ in 4 variables") as caught:
        differing("--compilation-config", {}, changed)
    for name in ("cudagraph_mode", "--port", "--max-num-batched-tokens", "--enable-prefix-caching"):
        assert name in caught.value.why


@pytest.mark.parametrize(
    ("other", "message"),
    [({}, "differ in 0 variables"), ({"add": ["--seed", "7"]}, "differ in --seed, not in --max-num-seqs")],
)
def test_none_or_another_difference_is_refused(other: dict[str, Any], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        differing("--max-num-seqs", {}, other)


def test_arguments_are_read_as_the_service_reads_them() -> None:
    words = ("model", "--max_num_seqs=32", "--trust-remote-code", "--sizes", "1", "2", "--no-prefix")
    assert parse_arguments(words) == {
        "argument 1": "model",
        "--max-num-seqs": "32",
        "--trust-remote-code": "on",
        "--sizes": "1 2",
        "--prefix": "off",
    }
    assert remove_argument(words, "--sizes") == ("model", "--max_num_seqs=32", "--trust-remote-code", "--no-prefix")
    assert remove_argument(words, "--max-num-seqs") == words[:1] + words[2:]


@pytest.mark.parametrize(
    ("one", "other", "load", "kind"),
    [
        ((4, 4), (0, 4), False, "switch"),
        ((0, 4), (4, 4), False, "switch"),
        ((4, 4), (0, 4), True, "gradual"),
        ((9, 10), (3, 10), False, "gradual"),
        ((3, 3), (0, 3), False, "undecided"),
        ((2, 4), (0, 4), False, "undecided"),
        ((0, 4), (0, 4), False, "no-effect"),
        ((4, 4), (4, 4), False, "no-effect"),
        ((0, 0), (0, 4), False, "undecided"),
    ],
)
def test_kinds(one: tuple[int, int], other: tuple[int, int], load: bool, kind: str) -> None:
    sides = [Tally(label=name, failed=a, ran=n) for name, (a, n) in (("a", one), ("b", other))]
    effect = classify_effect(sides[0], sides[1], load=load)
    assert effect.kind == kind
    assert f"a failed {one[0]} of {one[1]}" in effect.sentence


@given(st.integers(0, 6), st.integers(0, 6), st.integers(0, 3), st.integers(0, 3), st.data())
def test_what_is_settled_stays(ran: int, other_ran: int, left: int, other_left: int, data: st.DataObject) -> None:
    one = Tally(label="a", ran=ran, failed=data.draw(st.integers(0, ran)))
    other = Tally(label="b", ran=other_ran, failed=data.draw(st.integers(0, other_ran)))
    ends = (
        one.add_runs(data.draw(st.integers(0, left)), left),
        other.add_runs(data.draw(st.integers(0, other_left)), other_left),
    )
    if is_settled(one, other, (left, other_left)):
        assert classify_effect(*ends).kind == classify_effect(one.add_runs(0, left), other.add_runs(0, other_left)).kind


def test_fewer_than_four_a_side_can_never_tell() -> None:
    assert fisher.least(3, 3) > 0.05
    assert fisher.least(4, 4) <= 0.05


def conducted(folder: Path, plan: Serve, chosen: Experiment, **facts: Any) -> ExperimentRecord:
    with opened(folder, Target(folder / "file.py"), **facts) as bed:
        return conduct_experiment(bed, chosen, plan, ())


def test_a_switch_is_found_by_rounds_in_turn(fake_host: FakeHost, tmp_path: Path) -> None:
    plan = serve("--served-model-name", "glm", concurrency=(1, 4), requests=1, max_tokens=8)
    chosen = experiment("--crash-at", {"add": ["--crash-at", "4"]}, {})
    record = conducted(tmp_path, plan, chosen)
    assert (record.kind, record.outcome) == ("switch", Outcome.PASS)
    assert record.p == pytest.approx(1 / 35)
    assert "with never fails" in record.sentence
    assert [run.side for run in record.runs] == ["without", "with"] * 4
    assert record.sides[0].by_load == {"1": (0, 4), "4": (4, 4)}
    assert record.stand_in
    assert len(record.evidence) >= 16


def test_rounds_that_cannot_change_the_answer_are_not_run(fake_host: FakeHost, tmp_path: Path) -> None:
    plan = serve(concurrency=(1,), requests=1, max_tokens=4)
    chosen = experiment("--served-model-name", {}, {"add": ["--served-model-name", "other"]}, repeats=1)
    record = conducted(tmp_path, plan, chosen)
    assert (record.kind, record.outcome) == ("undecided", Outcome.INCONCLUSIVE)
    assert len(record.runs) == 1
    assert "cannot change" in record.stopped


def test_another_fault_than_the_one_asked_about_is_not_counted(fake_host: FakeHost, tmp_path: Path) -> None:
    plan = serve(concurrency=(1, 2), requests=1, max_tokens=8)
    chosen = experiment("--oom-at", {"add": ["--oom-at", "2"]}, {}, repeats=2)
    record = conducted(tmp_path, plan, chosen, budget=TimeBudget(limit=600).start())
    assert record.kind == "undecided"
    assert (record.sides[0].failed, record.sides[0].ran, record.sides[0].not_counted) == (0, 0, 1)
    assert record.runs[0].observed == "fault:oom"


def test_a_spent_budget_ends_it(fake_host: FakeHost, tmp_path: Path) -> None:
    plan = serve(concurrency=(1,))
    chosen = experiment("--crash-at", {"add": ["--crash-at", "4"]}, {})
    record = conducted(tmp_path, plan, chosen, budget=TimeBudget(limit=1e-9).start())
    assert (record.runs, record.kind) == ((), "undecided")
    assert "the budget is spent" in record.stopped
