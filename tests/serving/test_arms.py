"""Arms compared: base shows the fault and fixed does not, on one host in one boot, or there is no verdict."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Outcome
from backproof.core.time_budget import TimeBudget, parse_budget
from backproof.serving import arms
from backproof.serving.check import check_serving
from backproof.verdict import fisher
from services import MTE, SHORT, Target, of, opened, serve

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backproof.kit.serving import Serve
    from backproof.records.proof import Case
    from backproof.records.serving import Round, ServeRecord
    from npu_host import FakeHost

BOTH = (Arm.BASE, Arm.FIXED)


@pytest.fixture
def target(tmp_path: Path) -> Target:
    return Target(tmp_path / "conv_state.py")


def fixable(target: Target, *flags: str, **facts: Any) -> Serve:
    return serve(*flags, "--unless", f"{target.file}:FIXED", **{"concurrency": (1, 4), "fails_at": 4, **facts})


def verdicts(record: ServeRecord) -> dict[Arm, tuple[str, str]]:
    return {case.arm: (case.observed, case.verdict) for case in record.cases}


def run(folder: Path, target: Target, plan: Serve, **facts: Any) -> ServeRecord:
    with opened(folder, target, **facts) as bed:
        return check_serving(bed, plan, plan.arguments or (), BOTH)


def test_base_shows_the_first_fault_and_fixed_does_not(fake_host: FakeHost, tmp_path: Path, target: Target) -> None:
    record = run(tmp_path, target, fixable(target, "--crash-at", "4"))
    assert verdicts(record) == {
        Arm.BASE: ("fault:mte-out-of-range", "as-expected"),
        Arm.FIXED: ("pass", "as-expected"),
    }
    assert target.installs == [Arm.BASE, Arm.FIXED]
    assert target.file.read_text(encoding="utf-8") == "as it was"
    assert all(case.evidence for case in record.cases)
    assert record.inventory is not None
    assert record.inventory.stand_in
    paths = {item.path for item in record.evidence}
    assert {
        "rounds/load/base-1/round.json",
        "rounds/load/base-1/triage.json",
        "rounds/load/fixed-1/service.log",
    } <= paths


@pytest.mark.parametrize(
    ("flags", "base"),
    [
        (["--oom-at", "4"], ("fault:oom", "not-reproduced")),
        ([], ("pass", "not-discriminating")),
        (["--kill-at", "4"], ("error", "error")),
    ],
)
def test_without_the_plans_first_fault_nothing_is_reproduced(
    fake_host: FakeHost, tmp_path: Path, target: Target, flags: list[str], base: tuple[str, str]
) -> None:
    assert verdicts(run(tmp_path, target, fixable(target, *flags))) == {
        Arm.BASE: base,
        Arm.FIXED: ("pass", "as-expected"),
    }


def test_a_fix_that_turns_the_crash_into_wrong_numbers_is_a_fail_and_ends_the_spending(
    fake_host: FakeHost, tmp_path: Path, target: Target
) -> None:
    plan = fixable(target, "--crash-at", "4", "--corrupt-at", "4", "--still", "corrupt", repeats=2, order="abab")
    record = run(tmp_path, target, plan)
    assert verdicts(record)[Arm.FIXED] == ("fault:silent", "failed")
    assert target.installs == [Arm.BASE, Arm.FIXED]
    assert len(record.not_run) == 2
    assert "cannot change" in record.not_run[0]


def test_a_card_that_goes_bad_during_the_run_is_an_error_and_not_a_fail(
    fake_host: FakeHost, tmp_path: Path, target: Target
) -> None:
    with opened(tmp_path, target) as bed:

        @contextmanager
        def install(arm: Arm) -> Iterator[Mapping[str, str | None]]:
            with target.install(arm) as hashes:
                yield hashes
            if arm is Arm.FIXED:
                fake_host.set(health={"0.0": "Alarm"})

        plan = serve("--corrupt-at", "4", concurrency=(1, 4))
        record = check_serving(replace(bed, install=install), plan, plan.arguments or (), (Arm.FIXED,))
    assert verdicts(record) == {Arm.FIXED: ("error", "error")}
    assert "NPU 0 chip 0: health is Alarm" in record.cases[0].sentence


def test_what_is_done_is_not_done_again(fake_host: FakeHost, tmp_path: Path, target: Target) -> None:
    plan = fixable(target, "--crash-at", "4")
    first = run(tmp_path, target, plan)
    lines: list[str] = []
    again = run(tmp_path, target, plan, say=lines.append)
    assert again.rounds == first.rounds
    assert sum("reused" in line for line in lines) == 2
    moved = run(tmp_path, target, plan, facts={"host": "another", "boot_id": "x"}, say=lines.append)
    assert moved.rounds[0].digest != first.rounds[0].digest


def test_a_budget_is_not_spent_on_what_cannot_be_a_pass(fake_host: FakeHost, tmp_path: Path, target: Target) -> None:
    record = run(tmp_path, target, fixable(target), budget=TimeBudget(limit=600).start())
    assert verdicts(record) == {Arm.BASE: ("pass", "not-discriminating")}
    assert "nothing further can make this a pass" in record.not_run[0]
    spent = run(tmp_path / "other", target, fixable(target), budget=TimeBudget(limit=1e-9).start())
    assert spent.cases == ()
    assert "the budget is spent" in spent.not_run[0]


PLAN = serve(concurrency=(1, 2, 8), prompts=SHORT)


def outcomes(*rounds: Round) -> list[str]:
    return [case.verdict for case in arms.judge_arms(PLAN, rounds, {})]


@pytest.mark.parametrize("other", [{"host": "b"}, {"boot": "2"}])
def test_another_host_or_boot_is_refused(other: dict[str, Any]) -> None:
    assert outcomes(of(Arm.BASE, MTE), of(Arm.FIXED, "pass")) == ["as-expected", "as-expected"]
    cases = arms.judge_arms(PLAN, [of(Arm.BASE, MTE), of(Arm.FIXED, "pass", **other)], {})
    assert [case.verdict for case in cases] == ["error", "error"]
    assert "2 hosts or boots" in cases[0].sentence


def test_fixed_must_get_as_far_as_base_failed() -> None:
    short = of(Arm.FIXED, "pass", complete=False)
    short = short.model_copy(update={"steps": short.steps[:2]})
    assert outcomes(of(Arm.BASE, MTE), short) == ["as-expected", "error"]
    assert outcomes(of(Arm.BASE, MTE), of(Arm.FIXED, "pass", complete=False)) == ["as-expected", "as-expected"]


def test_one_failed_round_of_fixed_is_no_pass_and_the_numbers_are_said() -> None:
    rounds = [of(Arm.BASE, MTE, number=n) for n in range(1, 5)]
    rounds += [of(Arm.FIXED, "pass", number=n) for n in range(1, 5)]
    fine = arms.judge_arms(PLAN, rounds, {})
    assert [case.verdict for case in fine] == ["as-expected", "as-expected"]
    assert "0 of 4 rounds failed, 4 of 4 on base; Fisher's exact p = 0.0286" in fine[1].sentence
    rounds[-1] = of(Arm.FIXED, MTE, number=4)
    assert outcomes(*rounds) == ["as-expected", "unexpected"]


def test_the_order_of_the_rounds() -> None:
    def order(kind: str, seed: int = 0) -> str:
        plan = serve(repeats=3, order=kind)
        return "".join(arm.value[0] for arm, _ in arms.order_rounds(plan, BOTH, seed))

    assert order("listed") == "bbbfff"
    assert order("abab") == "bfbfbf"
    assert order("random", 1) == order("random", 1)
    assert len({order("random", seed) for seed in range(8)}) > 1


@pytest.mark.parametrize(
    ("table", "p"),
    # scipy.stats.fisher_exact 1.17.1
    [
        ((4, 4, 0, 4), 0.028571428571428567),
        ((3, 3, 0, 3), 0.1),
        ((8, 10, 1, 10), 0.005477494641581326),
        ((2, 9, 3, 7), 0.5961538461538463),
        ((0, 5, 0, 5), 1.0),
        ((1, 2, 0, 0), 1.0),
    ],
)
def test_fishers_exact(table: tuple[int, int, int, int], p: float) -> None:
    assert fisher.compute_exact_p(*table) == pytest.approx(p)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("45m", 2700), ("1.5h", 5400)])
def test_budgets(text: str, seconds: float) -> None:
    assert parse_budget(text).limit == seconds
    assert parse_budget(None).limit is None


@pytest.mark.parametrize("text", ["", "45", "0m", "1d", "-3m"])
def test_a_budget_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="not a duration"):
        parse_budget(text)


def test_a_judged_case_has_its_outcome() -> None:
    from backproof.verdict.judge import OUTCOMES

    cases: tuple[Case, ...] = arms.judge_arms(PLAN, [of(Arm.BASE, MTE), of(Arm.FIXED, "error")], {})
    assert [OUTCOMES[case.verdict] for case in cases] == [Outcome.PASS, Outcome.ERROR]
