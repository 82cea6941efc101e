"""What stands beside the proof: experiments, the target's own tests, the doctor. Shown with evidence, and no verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from backproof.commands.show import show_command
from backproof.core.model import Arm, Outcome
from backproof.records.proof import DeviceInventory
from backproof.report.hypotheses import list_suspicions
from hostile_text import HOSTILE, NASTY
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import ATTRIBUTES, TAGS, Reader, page
from records_beside import (
    a_comparison,
    an_experiment,
    own_tests,
    whole,
    with_doctor,
    with_experiments,
    with_own_tests,
)
from run_kinds import load_judged
from stories import Folder, case, proved, three

from tests.commands.test_show import said, saved, shown
from tests.stages.test_report import suites

if TYPE_CHECKING:
    from pathlib import Path


def section(folder: Folder, name: str) -> str:
    """One section of the page, as text."""
    made = page(folder)
    found = re.search(rf'<section aria-labelledby="{name}">.*?</section>', made, re.DOTALL)
    assert found, f"there is no section {name}"
    cells = re.sub(r"(</t[dh]>|</d[dt]>)", r" \1", found[0])
    return " ".join(Reader(cells).text.split())


def test_the_page_with_all_of_it_is_whole_and_every_reference_leads_somewhere(tmp_path: Path) -> None:
    read = Reader(page(whole(tmp_path)))
    assert read.open == []
    assert all(each.startswith("#") and each[1:] in read.ids for each in read.links)
    assert len(read.ids) == len(set(read.ids))


def test_nothing_of_it_is_on_the_page_of_a_run_without_it(tmp_path: Path) -> None:
    ids = Reader(page(proved(tmp_path))).ids
    assert not {"experiments", "hypotheses", "tests"} & set(ids)


def test_an_experiment_tells_variable_sides_rounds_and_what_it_rules_out(tmp_path: Path) -> None:
    text = section(whole(tmp_path), "experiments")
    assert "--speculative-config, and nothing else: --speculative-config: (absent) / {5}" in text
    assert "with base 4 4 1 8: 4 of 4" in text
    assert "with, 4 fault:mte 8 core 3 read outside" in text
    assert "Rules out --speculative-config makes no difference" in text
    assert "No device stands behind this experiment" in text
    assert "Rules out nothing" in text, "the undecided one"


@pytest.mark.parametrize(
    ("kind", "failed", "rules_out"),
    [
        ("switch", (0, 4), ["--x makes no difference"]),
        ("gradual", (2, 4), ["--x makes no difference", "the fault comes with one value of --x only"]),
        ("gradual", (0, 4), ["--x makes no difference"]),
        ("no-effect", (4, 4), ["the fault comes with one value of --x only"]),
        ("no-effect", (0, 0), []),
        ("undecided", (4, 4), []),
    ],
)
def test_only_what_the_rounds_leave_no_room_for_is_ruled_out(
    kind: str, failed: tuple[int, int], rules_out: list[str]
) -> None:
    sides = [{"label": str(n), "arm": "base", "failed": count, "ran": 4} for n, count in enumerate(failed)]
    found = an_experiment(variable="--x", kind=kind, sides=sides)
    assert list(found.rules_out) == rules_out


def test_what_an_experiment_rules_out_is_among_the_hypotheses(tmp_path: Path) -> None:
    text = section(whole(tmp_path), "hypotheses")
    ruled_out, standing = text.split("Not ruled out")
    assert "--speculative-config makes no difference experiment mtp: the setting decides: p = 0.0286" in ruled_out
    assert "nothing of one ruled out e" in ruled_out
    assert "--speculative-config decides whether it fails" in standing
    assert "--compilation-config" not in text, "what is undecided says nothing"


def test_an_experiment_whose_round_was_altered_is_not_shown_and_rules_nothing_out(tmp_path: Path) -> None:
    folder = whole(tmp_path)
    (tmp_path / "experiment/mtp/round.json").write_text("else")
    text = section(folder, "experiments")
    assert "mtp evidence missing or altered" in text
    assert "the setting decides" not in text
    assert "Does speculation decide?" in text, "the other one is as it was"
    assert list_suspicions(load_judged(folder)) == ()


def test_evidence_that_only_the_record_names_is_looked_at_too(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    with_experiments(folder, an_experiment())
    folder.stages[-1] = folder.stages[-1].model_copy(update={"evidence": folder.stages[-1].evidence[:1]})
    assert "the setting decides" in section(folder, "experiments")
    (tmp_path / "experiment/mtp/round.json").unlink()
    assert "the setting decides" not in section(folder, "experiments")


def test_own_tests_are_counted_per_arm_with_what_changed_and_what_did_not_run(tmp_path: Path) -> None:
    text = section(whole(tmp_path), "tests")
    assert re.search(r"base 1 1 0 0 0 0 0 2 e\d+", text)
    assert re.search(r"fixed 2 0 0 0 0 0 1 3 e\d+", text)
    assert "mended t.py::a: fails without the backport, passes with it" in text
    assert "t.py::b: fine" not in text
    assert "Not run t.py::c on fixed: the process ended with code 9" in text


def test_own_tests_that_say_nothing_say_why(tmp_path: Path) -> None:
    folder, found = proved(tmp_path), own_tests(spoiled="a card went bad")
    arms = (found.arms[0].model_copy(update={"strange": "no test ran (3 selected)"}), found.arms[1])
    with_own_tests(folder, found.model_copy(update={"arms": arms}), Outcome.ERROR)
    text = section(folder, "tests")
    assert "They say nothing: a card went bad" in text
    assert "These say nothing of base: no test ran (3 selected)" in text


def test_own_tests_whose_log_was_altered_are_not_shown(tmp_path: Path) -> None:
    folder = whole(tmp_path)
    (tmp_path / "upstream-tests/base/0.log").write_text("else")
    assert section(folder, "tests") == "The target's own tests evidence missing or altered"
    assert load_judged(folder).run.outcome is Outcome.ERROR


def test_own_tests_that_passed_and_cannot_be_read_are_no_pass(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    strange = folder.proof("upstream-tests/upstream-tests.json", '{"schema_version": 99}', "of another version")
    folder.stage("upstream-tests", evidence=(strange,))
    assert load_judged(folder).run.outcome is Outcome.ERROR


def test_the_doctors_comparison_is_the_drift(tmp_path: Path) -> None:
    text = section(whole(tmp_path), "environment")
    assert "A deviation from what the release was validated with is not a cause." in text
    assert "4 compared with the baseline: 3 deviate, 1 not read; a deviation is not a cause" in text
    assert "driver 26.1.1 26.0.RC1 older read from /usr/local/Ascend/driver/version.info e" in text
    assert "firmware 7.8 not read not read could not read the file e" in text
    assert "HCCL_BUFFSIZE (environment) 400 200 different" in text
    assert "CANN: no toolkit in its usual places" in text
    assert text.count("torch 2.10.0 2.13.0 newer") == 1, "what a stage found as the doctor did is said once"
    assert "triton not said 3.6.0 no baseline" in text, "what only a stage found stays"


def test_where_stage_and_doctor_found_another_version_both_are_shown(tmp_path: Path) -> None:
    folder, found = proved(tmp_path), a_comparison()
    torch = found.deviations[2].model_copy(update={"found": "2.10.0", "verdict": "same"})
    with_doctor(folder, found.model_copy(update={"deviations": (torch,)}))
    text = section(folder, "environment")
    assert "torch 2.10.0 2.10.0 same read from python" in text
    assert "torch 2.10.0 2.13.0 newer read from stage validate" in text


def test_a_doctor_without_a_baseline_says_so_and_what_it_could_not_read(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    with_doctor(folder, a_comparison(deviations=()))
    text = section(folder, "environment")
    assert "the baseline names nothing to compare" in text
    assert "CANN: no toolkit in its usual places" in text
    assert "Validated with" not in text


def test_an_altered_comparison_is_not_shown(tmp_path: Path) -> None:
    folder = whole(tmp_path)
    (tmp_path / "doctor/doctor.json").write_text("{}")
    assert "The doctor looked" not in section(folder, "environment")


@pytest.mark.parametrize(
    ("boot", "words"), [("b", "the host of the checks, in the same boot"), ("c", "not the host of the checks, or not")]
)
def test_the_doctor_says_whether_it_is_the_host_of_the_checks(tmp_path: Path, boot: str, words: str) -> None:
    folder = whole(tmp_path)
    facts = {"device": "ascend", "host": "h", "boot_id": boot, "driver": "1", "runtime": "1"}
    folder.ledger.write_record("validate/inventory.json", DeviceInventory.model_validate(facts))
    proof = folder.ledger.register_evidence(tmp_path / "validate/inventory.json", claim="inventory", command="x")
    at = [each.stage for each in folder.stages].index("validate")
    stage = folder.stages[at]
    folder.stages[at] = stage.model_copy(update={"evidence": (*stage.evidence, proof)})
    assert words in section(folder, "environment")


def test_verdict_level_and_numbers_are_those_of_the_proof_alone(tmp_path: Path) -> None:
    alone, beside = proved(tmp_path / "1"), proved(tmp_path / "2")
    with_experiments(beside, an_experiment(kind="undecided", outcome="inconclusive"))
    with_doctor(beside, a_comparison())
    one, other = load_judged(alone).run, load_judged(beside).run
    assert (one.outcome, one.level, one.sentence) == (other.outcome, other.level, other.sentence)
    assert [each.path for each in other.evidence][: len(one.evidence)] == [each.path for each in one.evidence]


def test_the_cause_of_a_verdict_is_never_what_stands_beside_it(tmp_path: Path) -> None:
    green = case("raw", Arm.BASE, "pass", "fault:x", verdict="not-discriminating")
    folder = proved(tmp_path, [green, *three("raw", "fault:x", "pass", "pass")[1:]])
    with_experiments(folder, an_experiment(kind="undecided", outcome="inconclusive"))
    run = load_judged(folder).run
    assert run.outcome is Outcome.INCONCLUSIVE
    assert "experiment" not in run.sentence


def test_an_undecided_experiment_is_not_red_in_a_ci_page(tmp_path: Path) -> None:
    stages = {each.attrib["name"]: each for each in suites(whole(tmp_path))["stages"]}
    assert [each.tag for each in stages["experiment"]] == ["system-out"]


def test_show_tells_each_experiment_and_has_the_records(tmp_path: Path) -> None:
    run = saved(whole(tmp_path))
    text = said(show_command, run)
    assert "Does speculation decide? switch: the setting decides" in text
    assert "graph" in text
    assert shown(show_command, run, "--stage", "experiment")["record"]["experiments"][0]["id"] == "mtp"
    assert shown(show_command, run, "--stage", "upstream-tests")["record"]["compared"][0]["verdict"] == "mended"
    assert shown(show_command, run, "--stage", "doctor")["record"]["deviations"][0]["name"] == "driver"


HOSTILE_TEXT = st.one_of(HOSTILE, st.just("".join(NASTY)))


@settings(max_examples=10, deadline=None)
@given(HOSTILE_TEXT)
def test_hostile_text_of_it_adds_no_tag(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder, text = proved(tmp_path_factory.mktemp("run")), text.encode("utf-8", "replace").decode()
    words: dict[str, Any] = dict.fromkeys(("question", "variable", "difference", "sentence", "stopped"), text)
    with_experiments(folder, an_experiment(**words))
    tests = own_tests(spoiled=text)
    compared = tuple(each.model_copy(update={"sentence": text}) for each in tests.compared)
    with_own_tests(folder, tests.model_copy(update={"compared": compared}), Outcome.ERROR)
    row = a_comparison().deviations[0].model_copy(update={"name": text, "found": text, "note": text})
    with_doctor(folder, a_comparison(deviations=(row,)))
    read = Reader(page(folder))
    assert read.open == []
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES
