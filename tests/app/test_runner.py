"""The loop over stages: what is reused, what counts, and what each kind of ending becomes."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.app import runner
from backproof.core.errors import BackproofError, HostError, Interrupted, NeedsReview, PlanError
from backproof.core.model import Arm, Evidence, Finding, Outcome, Record, StageRole
from backproof.records.proof import ArmSummary, Run, Settings, StageResult
from backproof.rundir.ledger import Ledger, digest_of
from backproof.rundir.subject import digest_subject
from backproof.stages import REGISTRY
from kits import write_kit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context
from contexts import context_of, new_run


def record_of(name: str) -> type[Record]:
    record = REGISTRY.record_of(name)
    assert record
    return record


@dataclass
class Step:
    """A stage that does what the test says."""

    NAME: str
    needs: tuple[str, ...] = ()
    REUSABLE: bool = True
    given: Any = 1
    ends: BackproofError | OSError | Outcome = Outcome.PASS
    evident: bool = True
    ran: list[str] = field(default_factory=list)

    @property
    def NEEDS(self) -> tuple[type[Record], ...]:  # noqa: N802
        return tuple(record_of(name) for name in self.needs)

    @property
    def RECORD(self) -> type[Record]:  # noqa: N802
        return record_of(self.NAME)

    @property
    def ROLE(self) -> StageRole:  # noqa: N802
        return REGISTRY.role_of(self.NAME)

    def inputs(self, ctx: Context) -> Mapping[str, Any]:
        return {"given": self.given, "device": ctx.settings.device}

    def run(self, ctx: Context) -> StageResult:
        self.ran.append(self.NAME)
        if isinstance(self.ends, Exception):
            raise self.ends
        file = ctx.ledger.write_text(f"{self.NAME}/{self.NAME}.txt", f"{self.given}\n")
        evidence = (ctx.ledger.register_evidence(file, claim="c", command="x"),) if self.evident else ()
        return StageResult(stage=self.NAME, outcome=self.ends, sentence="s", evidence=evidence)


@pytest.fixture
def said() -> list[str]:
    """What the run said, line by line."""
    return []


@pytest.fixture
def ctx(tmp_path: Path, said: list[str]) -> Context:
    kit = write_kit(tmp_path / "kit", ["a" * 40])
    settings = Settings(kit=str(kit), repo="r", branch="b", python="p", device="emulator")
    return context_of(Ledger(tmp_path / "run"), kit, settings, say=said.append)


def go(ctx: Context, *steps: Step) -> Run:
    return runner.run_stages(ctx, ctx.ledger.load_run() or new_run(ctx.settings), steps)


def outcomes(run: Run) -> dict[str, str]:
    return {each.stage: each.outcome.value for each in run.stages}


def saved(ctx: Context) -> Run:
    found = ctx.ledger.load_run()
    assert found is not None
    return found


def test_equal_inputs_are_reused_and_said(ctx: Context) -> None:
    pick, fixup = Step("pick"), Step("fixup", needs=("pick",))
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
    run = go(ctx, Step("pick", evident=False))
    assert outcomes(run) == {"pick": "error"}
    assert run.stages[0].sentence == "no evidence for: s"


@pytest.mark.parametrize(
    ("ends", "outcome"),
    [
        (HostError("w", why="y", next_step="n"), "error"),
        (NeedsReview("w", why="y", next_step="n"), "person-needed"),
        (OSError(28, "No space left on device"), "error"),
        (Outcome.FAIL, "fail"),
    ],
)
def test_what_ends_a_stage_aborts_those_that_need_it_by_name(ctx: Context, ends: Any, outcome: str) -> None:
    run = go(ctx, Step("pick", ends=ends), Step("fixup", needs=("pick",)), Step("triage"))
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
    assert (left.outcome, left.level, left.ended) == (Outcome.RUNNING, None, "")
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


@pytest.fixture
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by 1.23456 seconds each time it is read."""
    ticks = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: 100 + 1.23456 * next(ticks))


@pytest.mark.usefixtures("_clock")
def test_the_user_and_events_jsonl_are_told_of_each_stage(ctx: Context, said: list[str]) -> None:
    steps = Step("pick"), Step("fixup", ends=Outcome.FAIL)
    first = go(ctx, *steps)
    second = go(ctx, *steps)
    assert said == [
        *("==> pick", "    pass: s", "==> fixup", "    fail: s"),
        *("==> pick", "    pass (reused): s", "==> fixup", "    fail: s"),
    ]
    assert [each.seconds for each in (*first.stages, *second.stages)] == [1.235] * 4
    lines = [json.loads(line) for line in (ctx.ledger.folder / "events.jsonl").read_text().splitlines()]
    facts = ("event", "stage", "outcome", "reused", "seconds")
    assert [tuple(each[name] for name in facts) for each in lines] == [
        ("stage", "pick", "pass", False, 1.24),
        ("stage", "fixup", "fail", False, 1.24),
        ("stage", "pick", "pass", True, 1.24),
        ("stage", "fixup", "fail", False, 1.24),
    ]


def test_a_stage_that_took_no_time_of_ours_keeps_the_time_that_it_took(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = Step("pick")
    monkeypatch.setattr(time, "monotonic", iter((0.0, 7.5)).__next__)
    go(ctx, pick)
    monkeypatch.setattr(time, "monotonic", iter((0.0, 9.0)).__next__)
    assert [(each.seconds, each.reused) for each in go(ctx, pick).stages] == [(7.5, True)]


def test_the_end_is_noted_when_it_is_reached_and_in_run_json_too(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "now", lambda: "2026-01-02T03:04:05+00:00")
    run = go(ctx, Step("pick"))
    assert run.ended == "2026-01-02T03:04:05+00:00"
    assert saved(ctx) == run


def test_the_digest_is_of_stage_tool_subject_and_inputs_and_another_tool_runs_again(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick = Step("pick")
    monkeypatch.setattr(runner, "__version__", "1.2.3")
    inputs = {"given": 1, "device": "emulator"}
    run = go(ctx, pick)
    facts = {"stage": "pick", "tool": "1.2.3", "subject": digest_subject(run), "inputs": inputs}
    assert run.stages[0].digest == digest_of(facts)
    monkeypatch.setattr(runner, "__version__", "1.2.4")
    assert [each.reused for each in go(ctx, pick).stages] == [False]


class Watched(Step):
    """A step that looks at run.json while it works."""

    def run(self, ctx: Context) -> StageResult:
        found = ctx.ledger.load_run()
        assert found is not None
        self.seen = found
        return super().run(ctx)


def test_while_a_command_works_run_json_has_no_verdict(ctx: Context) -> None:
    before = go(ctx, Step("pick"), Step("fixup"))
    arm = ArmSummary(outcome=Outcome.PASS, as_expected=True, sentence="green")
    verdict = {"outcome": Outcome.PASS, "level": 2, "arms": {Arm.BASE: arm}, "files": {"comment.md": "comment.md"}}
    ctx.ledger.save_run(before.model_copy(update=verdict))
    watched = Watched("fixup", given=2)
    go(ctx, Step("pick"), watched)
    seen = watched.seen
    assert (seen.outcome, seen.level, seen.sentence) == (Outcome.RUNNING, None, "the command has not finished")
    assert (seen.arms, seen.files, seen.ended) == ({}, {}, "")
    assert outcomes(seen) == {"pick": "pass"}
    assert [each.stage for each in seen.earlier] == ["fixup"]


@pytest.mark.parametrize(
    ("error", "outcome", "severity"),
    [
        (HostError("no disk", why="it is full", next_step="free some"), Outcome.ERROR, "warning"),
        (NeedsReview("a conflict", why="both changed it", next_step="decide"), Outcome.PERSON, "fail"),
    ],
)
def test_an_error_becomes_a_result_with_evidence_and_both_findings(
    ctx: Context, error: BackproofError, outcome: Outcome, severity: Any
) -> None:
    result = go(ctx, Step("pick", ends=error)).stages[0]
    text = (ctx.ledger.folder / "pick/error.txt").read_text()
    assert text == f"{error.what}\n  why: {error.why}\n  next: {error.next_step}\n"
    assert (result.outcome, result.sentence, result.digest) == (outcome, error.what, "")
    file = ctx.ledger.folder / "pick/error.txt"
    assert result.evidence == (ctx.ledger.register_evidence(file, claim=error.what, command="stage pick"),)
    assert result.findings == (
        Finding(severity=severity, text=f"{error.what}: {error.why}"),
        Finding(severity="note", text=f"next: {error.next_step}"),
    )


def test_an_error_that_cannot_be_written_is_still_told(ctx: Context, said: list[str]) -> None:
    ctx.ledger.write_text("pick", "a file where the stage's folder would be")
    result = go(ctx, Step("pick", ends=HostError("w", why="y", next_step="n"))).stages[0]
    assert (result.outcome, result.evidence, result.findings[0].text) == (Outcome.ERROR, (), "w: y")
    assert said == ["==> pick", "    the error could not be written to the run folder", "    error: w"]


def test_a_stage_that_needs_one_that_never_ran_says_so(ctx: Context) -> None:
    result = go(ctx, Step("fixup", needs=("pick",))).stages[0]
    assert (result.outcome, result.sentence) == (
        Outcome.ABORTED,
        "not run: it needs pick, which has not run here",
    )


@pytest.mark.parametrize("kind", [PlanError, Interrupted])
def test_what_stops_the_command_is_kept_where_the_stage_had_no_result(ctx: Context, kind: type[BackproofError]) -> None:
    with pytest.raises(kind):
        go(ctx, Step("pick"), Step("fixup", ends=kind("w", why="y", next_step="n")))
    left = saved(ctx)
    assert outcomes(left) == {"pick": "pass", "fixup": "error"}
    assert (left.stages[1].sentence, left.sentence) == ("w", "the command has not finished")


def test_a_run_json_that_cannot_be_written_hides_nothing(ctx: Context, said: list[str]) -> None:
    (ctx.ledger.folder / "run.json").mkdir(parents=True)
    with pytest.raises(PlanError):
        go(ctx, Step("pick", ends=PlanError("w", why="y", next_step="n")))
    assert said == ["==> pick", "    run.json could not be written"]


def drifted() -> None:
    raise NeedsReview("a file has drifted", why="it was changed since", next_step="look at it")


def test_an_overlay_that_cannot_be_undone_needs_a_person_before_anything_is_reported(ctx: Context) -> None:
    ctx.effects.callback(drifted)
    kept = Watched("report", REUSABLE=False)
    run = go(ctx, Step("pick"), Step("install"), Step("verify"), kept)
    # Another install would have another digest; this one is the same, and what rests on it stays.
    assert outcomes(run) == {"pick": "pass", "verify": "pass", "install": "person-needed", "report": "pass"}
    installed = next(each for each in run.stages if each.stage == "install")
    assert installed.findings == (
        Finding(severity="fail", text="a file has drifted: it was changed since; next: look at it"),
    )
    assert outcomes(kept.seen)["install"] == "person-needed"


def test_what_cannot_be_undone_and_was_not_installed_here_is_an_error_of_the_command(ctx: Context) -> None:
    ctx.effects.callback(drifted)
    with pytest.raises(NeedsReview):
        go(ctx, Step("pick"), Step("report"))


def test_effects_are_undone_once_and_before_the_report(ctx: Context) -> None:
    undone: list[str] = []
    ctx.effects.callback(undone.append, "overlay")
    report = Watched("report", REUSABLE=False)
    go(ctx, Step("install"), report, Step("publish"))
    assert undone == ["overlay"]
    assert outcomes(report.seen) == {"install": "pass"}


def test_a_new_pick_outdates_stages_beside_the_pipeline_too_and_no_earlier_one(ctx: Context) -> None:
    pick, fixup = Step("pick"), Step("fixup")
    go(ctx, pick, fixup, Step("serve"), Step("upstream-tests"))
    fixup.given = 2
    run = go(ctx, fixup)
    assert outcomes(run) == {"pick": "pass", "fixup": "pass"}
    assert [each.stage for each in run.earlier] == ["serve", "upstream-tests"]


def test_of_two_stages_beside_the_pipeline_neither_outdates_the_other(ctx: Context) -> None:
    serve = Step("serve")
    go(ctx, serve, Step("upstream-tests"))
    serve.given = 2
    assert outcomes(go(ctx, serve)) == {"upstream-tests": "pass", "serve": "pass"}


def test_evidence_that_is_gone_or_none_at_all_is_not_reused(ctx: Context) -> None:
    pick = Step("pick", evident=False, ends=Outcome.SKIP)
    assert [go(ctx, pick).stages[0].reused for _ in range(2)] == [False, False]
    empty = StageResult(stage="pick", outcome=Outcome.PASS, sentence="s", digest=go(ctx, pick).stages[0].digest)
    ctx.ledger.save_run(new_run(ctx.settings).model_copy(update={"stages": (empty,)}))
    assert not go(ctx, pick).stages[0].reused
    gone = Evidence(path="pick/gone", sha256="0" * 64, claim="c", command="x")
    ctx.ledger.save_run(
        new_run(ctx.settings).model_copy(update={"stages": (empty.model_copy(update={"evidence": (gone,)}),)})
    )
    assert not go(ctx, pick).stages[0].reused
