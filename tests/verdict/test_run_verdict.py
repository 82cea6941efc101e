"""Outcome and level come from evidence of their own kind, whatever the stages say of themselves."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from backproof.core.model import Arm, Outcome
from backproof.records.proof import Case, DeviceInventory, ReportRecord, Run, VerifyRecord
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from run_kinds import INVENTORY
from stories import Folder, case, level_2_cases, proved, three

FAULT = "fault:out-of-range"


def summary(folder: Folder) -> Run:
    return run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY)


def test_all_stages_pass_on_the_emulator_is_level_2(tmp_path: Path) -> None:
    run = summary(proved(tmp_path))
    assert (run.outcome, run.level) == (Outcome.PASS, 2)
    assert run.sentence == (
        "PASS at level 2 (emulated): 2 proofs on release/1 red without the backport and green with it, under emulation "
        "on a CPU; not run on a device. 1 declared limit stays red with it."
    )


def test_arms_say_what_was_observed_and_whether_the_plan_expects_it(tmp_path: Path) -> None:
    arms = summary(proved(tmp_path)).arms
    assert list(arms) == [Arm.BASE, Arm.PICK, Arm.FIXED]
    assert [(each.outcome, each.as_expected) for each in arms.values()] == [
        (Outcome.FAIL, True),
        (Outcome.PASS, True),
        (Outcome.PASS, True),
    ]
    assert arms[Arm.BASE].sentence == (
        "2 of 4 cases red (fail 1, fault:out-of-range 1); 1 declared limit red; as the plan expects"
    )
    assert arms[Arm.PICK].sentence == (
        "green in every case that must be; 1 proof of a fix-up red; 1 declared limit red; as the plan expects"
    )
    assert arms[Arm.FIXED].sentence == "green in every case that must be; 1 declared limit red; as the plan expects"


def test_an_arm_without_red_is_green(tmp_path: Path) -> None:
    arms = summary(proved(tmp_path, three("raw", FAULT, "pass", "pass"))).arms
    assert (arms[Arm.FIXED].outcome, arms[Arm.FIXED].sentence) == (
        Outcome.PASS,
        "green in every case that must be; as the plan expects",
    )


@pytest.mark.parametrize(
    ("cases", "outcome", "as_expected", "sentence"),
    [
        (
            [case("raw", Arm.PICK, "error", "pass", verdict="error"), case("skip", Arm.PICK, "pass", role="guard")],
            Outcome.ERROR,
            False,
            "no case red; 1 of 2 cases could not be told; not as the plan expects: 1 error",
        ),
        (
            [
                case("raw", Arm.PICK, "error", "pass", verdict="error"),
                case("raw", Arm.PICK, "fail", "pass", verdict="failed"),
            ],
            Outcome.FAIL,
            False,
            "1 of 2 cases red (fail 1); 1 of 2 cases could not be told; not as the plan expects: 1 error, 1 failed",
        ),
        (
            [case("raw", Arm.PICK, "fail", "pass", verdict="as-expected")],
            Outcome.FAIL,
            True,
            "1 of 1 cases red (fail 1); as the plan expects",
        ),
        (
            [case("skip", Arm.PICK, "fail", "pass", verdict="unexpected", role="guard")],
            Outcome.FAIL,
            False,
            "1 of 1 cases red (fail 1); not as the plan expects: 1 unexpected",
        ),
        (
            [*(case(each, Arm.PICK, "fail", role="limit") for each in ("a", "b")), case("c", Arm.PICK, "fail")],
            Outcome.PASS,
            True,
            "green in every case that must be; 1 proof of a fix-up red; 2 declared limits red; as the plan expects",
        ),
        (
            [*(case(each, Arm.PICK, "fail") for each in ("a", "b")), case("c", Arm.PICK, "pass")],
            Outcome.PASS,
            True,
            "green in every case that must be; 2 proofs of a fix-up red; as the plan expects",
        ),
    ],
)
def test_an_arm_counts_red_and_unknown_and_calls_nothing_green_that_nobody_saw(
    cases: list[Case], outcome: Outcome, as_expected: bool, sentence: str
) -> None:
    arm = run_verdict.arm_summaries(cases)[Arm.PICK]
    assert (arm.outcome, arm.as_expected, arm.sentence) == (outcome, as_expected, sentence)


def test_evidence_is_listed_once_and_its_hashes_match(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    run = summary(folder)
    paths = [each.path for each in run.evidence]
    assert len(paths) == len(set(paths)) == 6 + 3 + 16
    assert all(folder.ledger.holds(each) for each in run.evidence)


def test_limits_hold_those_of_the_device_and_of_the_plan(tmp_path: Path) -> None:
    limits = summary(proved(tmp_path)).limits
    assert limits == (
        "streams and asynchronous errors",
        "timing",
        "rows under raw-bare on fixed: fail, as the plan expects",
    )


def test_red_where_it_must_pass_is_fail(tmp_path: Path) -> None:
    cases = [*three("raw", FAULT, "pass", "pass")[:2], case("raw", Arm.FIXED, "fail", "pass", verdict="failed")]
    run = summary(proved(tmp_path, cases, Outcome.FAIL))
    assert (run.outcome, run.level, run.outcome.exit_code) == (Outcome.FAIL, 1, 1)
    assert "backport does not hold" in run.sentence
    assert (run.arms[Arm.FIXED].outcome, run.arms[Arm.FIXED].as_expected) == (Outcome.FAIL, False)


def test_a_stage_that_calls_a_failed_case_a_pass_is_not_believed(tmp_path: Path) -> None:
    cases = [*three("raw", FAULT, "pass", "pass")[:2], case("raw", Arm.FIXED, "fail", "pass", verdict="failed")]
    run = summary(proved(tmp_path, cases, Outcome.PASS))
    assert (run.outcome, run.level) == (Outcome.FAIL, 1)
    assert (
        "rows under raw on fixed: showed fail where it must pass, as it does without the backport: step 2"
        in run.sentence
    )


@pytest.mark.parametrize("word", ["not-discriminating", "as-expected"])
def test_a_proof_that_passes_on_base_is_never_a_pass(tmp_path: Path, word: str) -> None:
    base = case("raw", Arm.BASE, "pass", FAULT, verdict=word)
    run = summary(proved(tmp_path, [base, *three("raw", FAULT, "pass", "pass")[1:]]))
    assert (run.outcome, run.level, run.outcome.exit_code) == (Outcome.INCONCLUSIVE, 1, 4)


def test_guards_alone_prove_nothing(tmp_path: Path) -> None:
    run = summary(proved(tmp_path, three("skip", "pass", "pass", "pass", role="guard")))
    assert (run.outcome, run.level) == (Outcome.INCONCLUSIVE, 1)
    assert "no proof is red without the backport and green with it" in run.sentence


def test_no_device_is_error_and_not_fail(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    error = folder.proof("validate/error.txt", "no device", "there is no device")
    folder.stage("validate", Outcome.ERROR, "there is no device", evidence=(error,))
    run = summary(folder)
    assert (run.outcome, run.level, run.outcome.exit_code) == (Outcome.ERROR, 1, 4)
    assert run.sentence == "ERROR: no verdict, we could not tell. validate: there is no device."


def test_a_conflict_needs_a_person_and_reaches_no_level(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick(Outcome.PERSON)
    folder.stage("fixup", Outcome.ABORTED, "not run: it needs pick")
    run = summary(folder)
    assert (run.outcome, run.level, run.outcome.exit_code) == (Outcome.PERSON, None, 3)


def test_only_picked_is_level_0(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick()
    folder.fixup()
    run = summary(folder)
    assert (run.outcome, run.level) == (Outcome.PASS, 0)
    assert "nothing of it was loaded or run" in run.sentence


def test_loaded_and_not_checked_is_level_1(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    run = summary(folder)
    assert (run.outcome, run.level) == (Outcome.PASS, 1)
    assert run.sentence == (
        "PASS at level 1 (loaded): the target loads, whole, what was picked on release/1; no check was judged."
    )


@pytest.mark.parametrize("outcomes", [[], [Outcome.SKIP], [Outcome.ABORTED], [Outcome.SKIP, Outcome.ABORTED]])
def test_nothing_ran_is_error(tmp_path: Path, outcomes: list[Outcome]) -> None:
    folder = Folder(tmp_path)
    for index, outcome in enumerate(outcomes):
        folder.stage(f"stage{index}", outcome)
    folder.stage("report", evidence=(folder.proof("comment.md", "text", "the comment"),))
    assert summary(folder).outcome is Outcome.ERROR


def test_a_skipped_stage_beside_others_does_not_count(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.stage("triage", Outcome.SKIP, "the plan has none")
    assert summary(folder).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("altered", "expected"),
    [
        ("pick/pick.json", None),
        ("fixup/backport.mbox", None),
        ("verify/verify.json", 0),
        ("verify/loaded.json", 0),
        ("validate/validate.json", 1),
        ("validate/base/rows.raw-bare.json", 1),
    ],
)
@pytest.mark.parametrize("how", ["changed", "gone"])
def test_altered_evidence_takes_its_level_and_the_pass(
    tmp_path: Path, altered: str, expected: int | None, how: str
) -> None:
    folder = proved(tmp_path)
    file = tmp_path / altered
    file.unlink() if how == "gone" else file.write_text(file.read_text() + " ")
    run = summary(folder)
    assert (run.outcome, run.level) == (Outcome.ERROR, expected)


def test_evidence_outside_the_run_folder_does_not_hold(tmp_path: Path) -> None:
    folder = Folder(tmp_path / "run")
    folder.pick()
    outside = folder.proof("x", "text", "a claim").model_copy(update={"path": "../x"})
    (tmp_path / "x").write_text("text")
    folder.stage("fixup", evidence=(outside,))
    assert run_verdict.read_evidence(folder.ledger, folder.run, REGISTRY).altered == {"../x"}


def test_a_record_that_no_stage_registered_does_not_count(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    index = next(i for i, each in enumerate(folder.stages) if each.stage == "verify")
    other = folder.proof("verify/log.txt", "text", "a log")
    folder.stages[index] = folder.stages[index].model_copy(update={"evidence": (other,)})
    assert (summary(folder).outcome, summary(folder).level) == (Outcome.ERROR, 0)


def test_a_claim_that_fails_keeps_the_level_down(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify(complete=Outcome.FAIL)
    folder.validate(level_2_cases())
    assert (summary(folder).outcome, summary(folder).level) == (Outcome.FAIL, 0)


def on_device(path: Path, inventory: DeviceInventory | None, facts: dict[str, str]) -> Run:
    folder = Folder(path, device="ascend")
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    folder.validate(three("ascend", FAULT, "pass", "pass"), facts=facts)
    if inventory:
        file = folder.ledger.write_record("validate/inventory.json", inventory)
        evidence = folder.ledger.register_evidence(file, claim="the device", command="inventory")
        last = folder.stages[-1]
        folder.stages[-1] = last.model_copy(update={"evidence": (*last.evidence, evidence)})
    return summary(folder)


def test_an_inventory_of_the_same_host_and_boot_is_level_3(tmp_path: Path) -> None:
    run = on_device(tmp_path, INVENTORY, {"host": "h1", "boot_id": "b1"})
    assert (run.outcome, run.level) == (Outcome.PASS, 3)
    assert "on the device itself" in run.sentence


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        (None, {"host": "h1", "boot_id": "b1"}),
        ({"stand_in": True}, {"host": "h1", "boot_id": "b1"}),
        ({"driver": ""}, {"host": "h1", "boot_id": "b1"}),
        ({"runtime": ""}, {"host": "h1", "boot_id": "b1"}),
        ({"device": "other"}, {"host": "h1", "boot_id": "b1"}),
        ({}, {"host": "h1", "boot_id": "b2"}),
        ({}, {"host": "h2", "boot_id": "b1"}),
        ({"host": "", "boot_id": ""}, {"host": "", "boot_id": ""}),
        ({}, {}),
    ],
)
def test_without_its_inventory_a_device_run_stays_below_level_3(
    tmp_path: Path, changes: dict[str, object] | None, facts: dict[str, str]
) -> None:
    inventory = None if changes is None else INVENTORY.model_copy(update=changes)
    run = on_device(tmp_path, inventory, facts)
    assert run.level == 1
    assert "device itself" not in run.sentence
    assert "nothing shows which device that was" in run.sentence


def test_an_inventory_beside_an_emulator_run_lifts_nothing(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    file = folder.ledger.write_record("validate/inventory.json", INVENTORY.model_copy(update={"device": "emulator"}))
    evidence = folder.ledger.register_evidence(file, claim="a device", command="inventory")
    folder.stages[-1] = folder.stages[-1].model_copy(update={"evidence": (*folder.stages[-1].evidence, evidence)})
    assert summary(folder).level == 2


def test_every_verdict_of_a_case_on_every_arm_is_a_pass_only_when_expected() -> None:
    words = ("as-expected", "not-discriminating", "not-reproduced", "unexpected", "failed", "error")
    for word, arm, role in product(words, Arm, ("proof", "guard", "limit")):
        made: Case = case("raw", arm, "fail", verdict=word, role=role)
        assert (run_verdict.case_outcome(made) is Outcome.PASS) == (word == "as-expected")


def test_a_proof_is_red_on_base_and_green_on_fixed() -> None:
    told = [
        *three("good", FAULT, "fail", "pass"),
        *three("green-before", "pass", "pass", "pass"),
        *three("red-after", FAULT, "pass", "fail"),
        *three("never-ran", "error", "pass", "pass")[1:],
        *three("no-fixture", "error", "pass", "pass"),
        *three("guard", "fail", "pass", "pass", role="guard"),
    ]
    assert run_verdict.find_proofs(told) == (("rows", "good"),)


def with_claims(path: Path, **changes: Any) -> Folder:
    """A level 2 run but for what the verify stage has."""
    folder = Folder(path)
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify(**changes)
    folder.validate(level_2_cases())
    return folder


def of_claims(folder: Folder, arm: Arm = Arm.FIXED, names: tuple[str, ...] = ("loaded", "complete", "reached")) -> Run:
    """The summary of a run whose verify record has only these claims, of that arm."""
    found = folder.ledger.read_record("verify/verify.json", VerifyRecord)
    assert found is not None
    record = VerifyRecord(arm=arm, claims=tuple(each for each in found.claims if each.name in names))
    at = next(index for index, each in enumerate(folder.stages) if each.stage == "verify")
    folder.stages[at] = folder.stages[at].model_copy(update={"evidence": (folder.record("verify", record),)})
    return summary(folder)


@pytest.mark.parametrize(
    ("arm", "names", "level"),
    [
        (Arm.FIXED, ("loaded", "complete", "reached"), 2),
        (Arm.FIXED, ("loaded", "complete"), 2),
        (Arm.FIXED, ("loaded", "reached"), 0),
        (Arm.FIXED, ("complete", "reached"), 0),
        (Arm.FIXED, (), 0),
        (Arm.PICK, ("loaded", "complete", "reached"), 0),
        (Arm.BASE, ("loaded", "complete", "reached"), 0),
    ],
)
def test_loaded_and_complete_of_the_whole_backport_make_level_1(
    tmp_path: Path, arm: Arm, names: tuple[str, ...], level: int
) -> None:
    assert of_claims(with_claims(tmp_path), arm, names).level == level


@pytest.mark.parametrize(
    ("changes", "outcome", "level"),
    [
        ({"reached": Outcome.SKIP}, Outcome.PASS, 2),
        ({"reached": Outcome.INCONCLUSIVE}, Outcome.INCONCLUSIVE, 0),
        ({"complete": Outcome.SKIP}, Outcome.PASS, 0),
        ({"loaded": Outcome.SKIP}, Outcome.PASS, 0),
        ({"loaded": Outcome.ERROR}, Outcome.ERROR, 0),
    ],
)
def test_only_what_the_plan_does_not_ask_for_may_be_skipped(
    tmp_path: Path, changes: dict[str, Outcome], outcome: Outcome, level: int
) -> None:
    run = summary(with_claims(tmp_path, **changes))
    assert (run.outcome, run.level) == (outcome, level)


def test_a_device_that_this_version_does_not_know_carries_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path, device="moon")
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    folder.validate(level_2_cases())
    run = summary(folder)
    assert run.level == 1
    assert run.sentence == (
        "PASS at level 1 (loaded): 2 proofs on release/1 red without the backport and green with it, on moon; nothing "
        "shows which device that was: there is no inventory of it from the same host and boot. 1 declared limit stays "
        "red with it."
    )


@pytest.mark.parametrize(
    ("altered", "sentence"),
    [
        ("pick/pick.json", "pick: evidence missing or altered"),
        (
            "validate/base/rows.raw-bare.json",
            "rows under raw-bare on base: could not be told: validate/base/rows.raw-bare.json is missing or altered",
        ),
    ],
)
def test_the_cause_names_the_stage_whose_evidence_does_not_hold(tmp_path: Path, altered: str, sentence: str) -> None:
    folder = proved(tmp_path)
    folder.stage("report", evidence=(folder.proof("comment.md", "text", "the comment"),))
    (tmp_path / altered).write_text("altered")
    assert summary(folder).sentence == f"ERROR: no verdict, we could not tell. {sentence}."


def test_a_report_that_failed_makes_the_run_an_error_and_a_report_that_was_altered_is_no_cause(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.stage("report", Outcome.ERROR, "the disk is full")
    assert summary(folder).sentence == "ERROR: no verdict, we could not tell. report: the disk is full."
    folder.stages[-1] = folder.stages[-1].model_copy(
        update={"outcome": Outcome.PASS, "evidence": (folder.proof("comment.md", "text", "the comment"),)}
    )
    (tmp_path / "comment.md").write_text("altered")
    assert summary(folder).outcome is Outcome.PASS


def test_the_reports_of_a_run_are_listed_once_the_stage_has_told_of_them(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.ledger.write_text("report.html", "left by an earlier command")
    assert summary(folder).files == {}
    record = ReportRecord(sentence="s", files=("comment.md", "report.html"))
    told = folder.record("report", record)
    folder.stage("report", evidence=(folder.proof("comment.md", "text", "the comment"), told))
    assert summary(folder).files == {"comment.md": "comment.md"}, "report.html is no evidence of this report"


def test_a_limit_that_is_green_with_the_backport_is_none() -> None:
    told = [
        *three("held", "fail", "fail", "fail", role="limit"),
        *three("held", "fail", "fail", "fail", role="limit"),
        *three("gone", "fail", "fail", "pass", role="limit"),
        *three("proof", "fail", "fail", "fail"),
    ]
    assert run_verdict.declared_limits(told) == ("rows under held on fixed: fail, as expected",)


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (case("raw", Arm.BASE, "pass", "fail", verdict="as-expected"), Outcome.INCONCLUSIVE),
        (case("raw", Arm.BASE, "fail", verdict="as-expected"), Outcome.PASS),
        (case("raw", Arm.PICK, "pass", verdict="as-expected"), Outcome.PASS),
        (case("raw", Arm.BASE, "pass", verdict="as-expected", role="guard"), Outcome.PASS),
        (case("raw", Arm.BASE, "pass", verdict="error"), Outcome.INCONCLUSIVE),
        (case("raw", Arm.BASE, "error", verdict="error"), Outcome.ERROR),
        (case("raw", Arm.FIXED, "fail", verdict="failed"), Outcome.FAIL),
    ],
)
def test_a_proof_that_passes_on_base_is_none_whatever_its_verdict_says(made: Case, outcome: Outcome) -> None:
    assert run_verdict.case_outcome(made) is outcome


def test_a_run_is_judged_again_unless_its_command_never_ended(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    judged = summary(folder).model_copy(update={"files": {"comment.md": "comment.md"}})
    assert run_verdict.as_left(judged, judged) is judged
    left = run_verdict.as_left(run_verdict.mark_unfinished(folder.run), judged)
    assert left == judged.model_copy(
        update={
            "outcome": Outcome.RUNNING,
            "level": None,
            "sentence": "the command has not finished",
            "arms": {},
            "files": {},
        }
    )
