"""The report stage: what it writes, also after a failure; junit.xml; the published schemas."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from backproof.core.model import Arm, Outcome
from backproof.kit.loader import make_schema
from backproof.records.mutation import MutationRecord
from backproof.records.proof import Run, StageResult
from backproof.report import junit
from backproof.report.view import RunView
from backproof.stages import REGISTRY, report
from backproof.verdict import run_verdict
from checkout import ROOT
from contexts import context_of
from hostile_text import HOSTILE, NASTY
from hypothesis import given, settings
from hypothesis import strategies as st
from run_kinds import ALL, failed, hostile_folder, load_judged, no_device, stopped, undecided
from stories import Folder, case, plan, proved, three

SCHEMAS = ROOT / "docs" / "schema"
FILES = ("comment.md", "report.html", "junit.xml")
DRAFT = "https://json-schema.org/draft/2020-12/schema"

if TYPE_CHECKING:
    from backproof.rundir.context import Context


def context(folder: Folder, said: list[str] | None = None) -> Context:
    say = said.append if said is not None else lambda _: None
    run = folder.run
    return context_of(folder.save(), folder.path, run.settings, run=run, loaded_plan=plan(), say=say)


def finish(folder: Folder, result: StageResult) -> Run:
    """As the runner does it."""
    folder.stages = [each for each in folder.stages if each.stage != result.stage] + [result]
    run = run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY)
    folder.ledger.save_run(run)
    return run


@pytest.mark.parametrize("make", ALL)
def test_it_writes_three_files_whatever_happened(tmp_path: Path, make: Any) -> None:
    folder = make(tmp_path)
    result = report.run(context(folder))
    assert result.outcome is Outcome.PASS
    assert [each.path for each in result.evidence] == ["comment.md", "report.html", "junit.xml", "report/report.json"]
    assert all(folder.ledger.holds(each) for each in result.evidence)


def test_the_run_of_the_demo_is_as_documented(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    run = finish(folder, report.run(context(folder)))
    data = json.loads((tmp_path / "run.json").read_text())
    jsonschema.validate(data, json.loads((SCHEMAS / "run.schema.json").read_text()))
    assert (data["outcome"], data["level"]) == ("pass", 2)
    assert data["arms"]["base"] == {
        "outcome": "fail",
        "as_expected": True,
        "sentence": run.arms[Arm.BASE].sentence,
    }
    assert {key for each in data["evidence"] for key in each} == {"path", "sha256", "claim", "command"}
    assert data["files"] == {name: name for name in FILES}
    assert all(folder.ledger.holds(each) for each in run.evidence)


def test_files_of_the_comment_are_in_run_json_with_their_hashes(tmp_path: Path) -> None:
    run = finish(folder := proved(tmp_path), report.run(context(folder)))
    comment = (tmp_path / "comment.md").read_text()
    named = re.findall(r"- `(\S+)` `([0-9a-f]{64})`", comment)
    assert [path for path, _ in named] == ["fixup/backport.mbox", "validate/validate.json"]
    assert set(named) <= {(item.path, item.sha256) for item in run.evidence}


def test_reporting_twice_gives_the_same_comment(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    finish(folder, report.run(context(folder)))
    first = (tmp_path / "comment.md").read_bytes()
    finish(folder, report.run(context(folder)))
    assert (tmp_path / "comment.md").read_bytes() == first


def test_a_comment_that_a_person_edited_does_not_take_the_pass_away_from_the_next_report(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    finish(folder, report.run(context(folder)))
    (tmp_path / "comment.md").write_text("my words")
    said: list[str] = []
    run = finish(folder, report.run(context(folder, said)))
    assert (run.outcome, run.level) == (Outcome.PASS, 2)
    assert said[-1].startswith("PASS at level 2")


def suites(folder: Folder) -> dict[str, ET.Element]:
    root = ET.fromstring(junit.render_junit(RunView(loaded=load_judged(folder))))  # noqa: S314 - our own text
    return {each.attrib["name"]: each for each in root}


def test_one_suite_per_arm_and_one_for_the_stages(tmp_path: Path) -> None:
    found = suites(proved(tmp_path))
    assert list(found) == ["stages", "arm base", "arm pick", "arm fixed"]
    assert [each.attrib["name"] for each in found["stages"]][-3:] == ["loaded", "complete", "reached"]
    assert len(found["arm base"]) == 4
    assert all(each.attrib["failures"] == each.attrib["errors"] == "0" for each in found.values())


def test_red_on_base_is_a_passed_proof_and_says_so(tmp_path: Path) -> None:
    base = suites(proved(tmp_path))["arm base"][0]
    assert [each.tag for each in base] == ["system-out"]
    assert "this red passes the proof" in (base[0].text or "")


@pytest.mark.parametrize(
    ("make", "suite", "tag"),
    [
        (failed, "arm fixed", "failure"),
        (undecided, "arm base", "error"),
        (no_device, "stages", "error"),
        (stopped, "stages", "failure"),
    ],
)
def test_fail_error_and_the_rest_stay_apart(tmp_path: Path, make: Any, suite: str, tag: str) -> None:
    found = suites(make(tmp_path))[suite]
    marks = {inner.tag for each in found for inner in each} - {"system-out", "skipped"}
    assert marks == {tag}


def test_aborted_is_skipped(tmp_path: Path) -> None:
    fixup = suites(stopped(tmp_path))["stages"][1]
    assert [each.tag for each in fixup] == ["skipped", "system-out"]


def test_altered_evidence_is_an_error(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    (tmp_path / "validate/base/rows.raw.json").write_text("else")
    (tmp_path / "verify/loaded.json").write_text("else")
    found = suites(folder)
    assert found["arm base"][0][0].attrib["message"] == "evidence missing or altered"
    assert found["stages"].attrib["errors"] == "1"


@settings(max_examples=25, deadline=None)
@given(st.one_of(HOSTILE, st.just("".join(NASTY)), st.just("\ufffe\uffff\U0001ffff\ud800]]>\x0c")))
def test_hostile_text_is_still_xml(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    found = suites(hostile_folder(tmp_path_factory.mktemp("run"), text))
    assert sum(len(each) for each in found.values()) == 9 + 12


def test_a_colour_goes_whole(tmp_path: Path) -> None:
    red = case("raw", Arm.FIXED, "fail", "pass", verdict="failed", first="\x1b[31mred\x1b[0m")
    folder = proved(tmp_path, [*three("raw", "fail", "pass", "pass")[:2], red], Outcome.FAIL)
    assert (suites(folder)["arm fixed"][0][0].attrib["message"]).endswith("first: step 24: red")


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("run", {"$schema": DRAFT, **Run.model_json_schema(mode="serialization")}),
        ("plan", make_schema()),
        ("mutate", {"$schema": DRAFT, **MutationRecord.model_json_schema(mode="serialization")}),
    ],
)
def test_the_published_schema_is_the_models(name: str, schema: dict[str, Any]) -> None:
    path = SCHEMAS / f"{name}.schema.json"
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    jsonschema.Draft202012Validator.check_schema(schema)


def test_each_field_of_run_json_is_documented() -> None:
    text = (SCHEMAS.parent / "results-format.md").read_text(encoding="utf-8")
    for model in (Run, StageResult):
        for name in model.model_fields:
            assert f"`{name}`" in text
    for each in Outcome:
        assert f"`{each}` | {int(each.exit_code)}" in text
