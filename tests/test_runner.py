"""The loop over stages: what is reused, what counts, and what each kind of ending becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kits import write_kit

from pipeline import plan, runner
from pipeline.context import Context
from pipeline.errors import BackproofError, HostError, Interrupted, PersonNeeded, PlanError
from pipeline.ledger import Ledger
from pipeline.model import Outcome
from pipeline.records import Run, Settings, StageResult

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass
class Step:
    """A stage that does what the test says."""

    NAME: str
    NEEDS: tuple[str, ...] = ()
    REUSABLE: bool = True
    given: Any = 1
    ends: BackproofError | OSError | Outcome = Outcome.PASS
    evident: bool = True
    ran: list[str] = field(default_factory=list)

    def inputs(self, ctx: Context) -> Mapping[str, Any]:
        del ctx
        return {"given": self.given}

    def run(self, ctx: Context) -> StageResult:
        self.ran.append(self.NAME)
        if isinstance(self.ends, Exception):
            raise self.ends
        file = ctx.ledger.write_text(f"{self.NAME}/{self.NAME}.txt", f"{self.given}\n")
        evidence = (ctx.ledger.evidence(file, claim="c", command="x"),) if self.evident else ()
        return StageResult(stage=self.NAME, outcome=self.ends, sentence="s", evidence=evidence)


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    kit = write_kit(tmp_path / "kit", ["a" * 40])
    settings = Settings(kit=str(kit), repo="r", branch="b", python="p", device="emulator")
    return Context(ledger=Ledger(tmp_path / "run"), plan=plan.load(kit), kit=kit, settings=settings, say=lambda _: None)


def go(ctx: Context, *steps: Step) -> Run:
    known = ctx.ledger.load_run()
    run = known or Run(tool="t", id="i", kit="k", title="t", settings=ctx.settings, started="now")
    return runner.execute(ctx, run, steps)


def outcomes(run: Run) -> dict[str, str]:
    return {each.stage: each.outcome.value for each in run.stages}


def saved(ctx: Context) -> Run:
    found = ctx.ledger.load_run()
    assert found is not None
    return found


def test_equal_inputs_are_reused_and_said(ctx: Context) -> None:
    pick, fixup = Step("pick"), Step("fixup", NEEDS=("pick",))
    go(ctx, pick, fixup)
    run = go(ctx, pick, fixup)
    assert [each.reused for each in run.stages] == [True, True]
    assert (pick.ran, fixup.ran) == (["pick"], ["fixup"])
    fixup.given = 2
    run = go(ctx, pick, fixup)
    assert [each.reused for each in run.stages] == [True, False]


def test_altered_evidence_and_a_stage_with_effects_outside_are_not_reused(ctx: Context) -> None:
    pick, install = Step("pick"), Step("install", REUSABLE=False)
    go(ctx, pick, install)
    (ctx.ledger.folder / "pick" / "pick.txt").write_text("altered\n")
    go(ctx, pick, install)
    assert (pick.ran, install.ran) == (["pick"] * 2, ["install"] * 2)


def test_a_pass_without_evidence_is_an_error(ctx: Context) -> None:
    assert outcomes(go(ctx, Step("pick", evident=False))) == {"pick": "error"}


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        (HostError("w", why="y", next_step="n"), "error"),
        (PersonNeeded("w", why="y", next_step="n"), "person-needed"),
        (OSError(28, "No space left on device"), "error"),
        (Outcome.FAIL, "fail"),
    ],
)
def test_what_ends_a_stage_aborts_those_that_need_it_by_name(ctx: Context, ends: Any, outcome: str) -> None:
    run = go(ctx, Step("pick", ends=ends), Step("fixup", NEEDS=("pick",)), Step("triage"))
    assert outcomes(run) == {"pick": outcome, "fixup": "aborted", "triage": "pass"}
    assert f"it needs pick, which ended with {outcome}" in run.stages[1].sentence


def test_a_command_that_is_stopped_leaves_no_verdict_and_loses_nothing(ctx: Context) -> None:
    pick, fixup, verify = Step("pick"), Step("fixup"), Step("verify")
    go(ctx, pick, fixup, verify)
    fixup.ends = Interrupted("w", why="y", next_step="n")
    fixup.given = 2
    with pytest.raises(Interrupted):
        go(ctx, pick, fixup, verify)
    left = saved(ctx)
    assert (left.outcome, left.level, left.ended) == (Outcome.ERROR, None, "")
    assert outcomes(left) == {"pick": "pass"}
    fixup.ends = Outcome.PASS
    run = go(ctx, pick, fixup, verify)
    assert [each.reused for each in run.stages] == [True, False, True]
    assert run.earlier == ()


def test_another_pick_outdates_what_rests_on_it_also_when_it_runs_alone(ctx: Context) -> None:
    pick, verify = Step("pick"), Step("verify")
    go(ctx, pick, verify)
    go(ctx, pick)
    assert outcomes(saved(ctx)) == {"verify": "pass", "pick": "pass"}
    pick.given = 2
    run = go(ctx, pick)
    assert outcomes(run) == {"pick": "pass"}
    assert [each.stage for each in run.earlier] == ["verify"]


def test_a_mistake_in_the_call_does_not_unsay_what_was_found(ctx: Context) -> None:
    pick, verify = Step("pick"), Step("verify")
    before = go(ctx, pick, verify)
    verify.ends, verify.given = PlanError("w", why="y", next_step="n"), 2
    with pytest.raises(PlanError):
        go(ctx, verify)
    assert saved(ctx) == before


def test_a_new_report_takes_nothing_away_from_what_ran_beside_the_pipeline(ctx: Context) -> None:
    go(ctx, Step("pick"), Step("report", REUSABLE=False))
    run = go(ctx, Step("upstream-tests"), Step("report", REUSABLE=False, given=2))
    assert outcomes(run) == {"pick": "pass", "upstream-tests": "pass", "report": "pass"}
    assert outcomes(go(ctx, Step("pick", given=2))) == {"pick": "pass"}, "a new pick does: they rest on it"
