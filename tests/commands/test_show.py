"""show, diff and runs: the same story as the report's, from the folder alone, and nothing of it is changed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from backproof.cli import cli
from backproof.commands.show import diff_command, show_command
from backproof.core.errors import PlanError
from backproof.core.model import Finding, Outcome
from backproof.records.proof import FileChange, FixupRecord
from backproof.report import run_diff
from backproof.report.view import RunView
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from click.testing import CliRunner
from loads import with_load
from stories import FIXED, Folder, level_2_cases, proved, three

if TYPE_CHECKING:
    from pathlib import Path

    import click


def saved(folder: Folder) -> Path:
    """As the runner leaves it: judged."""
    ledger = folder.save()
    ledger.save_run(run_verdict.summarise_run(folder.run, ledger, REGISTRY))
    return folder.path


def said(command: click.Command, *words: str | Path) -> str:
    done = CliRunner(env={"COLUMNS": "240"}).invoke(command, [str(each) for each in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def shown(command: click.Command, *words: str | Path) -> Any:
    return json.loads(said(command, *words, "--json"))


def test_show_tells_verdict_stages_claims_and_checks(tmp_path: Path) -> None:
    text = said(show_command, saved(proved(tmp_path)))
    assert "PASS at level 2 (emulated)" in text
    assert "loaded: 1 of 1 files" in text
    assert "fault:out-of-range" in text
    assert text.index("PASS at level 2") < text.index("what it says") < text.index("raw-bare")


def test_show_judges_again_when_evidence_is_gone(tmp_path: Path) -> None:
    folder = saved(proved(tmp_path))
    (tmp_path / "verify/loaded.json").unlink()
    text, facts = said(show_command, folder), shown(show_command, folder)
    assert "missing or altered, and not counted: verify/loaded.json" in text
    assert facts["altered"] == ["verify/loaded.json"]
    assert (facts["run"]["outcome"], facts["run"]["level"]) == ("error", 0)


def test_a_case_or_a_claim_whose_evidence_is_gone_is_shown_as_such_and_not_compared(tmp_path: Path) -> None:
    whole, gone = (saved(proved(tmp_path / name)) for name in ("whole", "gone"))
    (gone / "validate/base/rows.raw.json").unlink()
    (gone / "verify/loaded.json").unlink()
    row = next(line for line in said(show_command, gone).splitlines() if "│ rows  │ raw  " in line)
    assert [cell.strip() for cell in row.split("│")][3:6] == ["evidence missing or altered", "pass", "pass"]
    changes = {change["name"]: change["after"] for change in shown(diff_command, whole, gone)["changes"]}
    assert changes["rows under raw on base"] == "evidence missing or altered"
    assert changes["rows under raw on base, steps"] is None
    assert changes["claim loaded"] == "evidence missing or altered"
    assert "claim complete" not in changes


def test_show_changes_nothing(tmp_path: Path) -> None:
    folder = saved(proved(tmp_path))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    said(show_command, folder)
    said(show_command, folder, "--stage", "verify")
    said(diff_command, folder, folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_show_of_a_stage_has_its_evidence_and_its_record(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.stage("audit", findings=(Finding(severity="warning", text="look", where="a.py"),))
    run = saved(folder)
    text, facts = said(show_command, run, "--stage", "pick"), shown(show_command, run, "--stage", "pick")
    assert "pick/pick.json" in text
    assert facts["record"]["commits"][0]["dropped"] == ["notes/7.yaml"]
    assert facts["stage"]["evidence"][0]["sha256"] in text
    assert "warning: a.py: look" in said(show_command, run, "--stage", "audit")


def test_a_run_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    folder = saved(proved(tmp_path))
    with (folder / "run.json").open("ab") as file:
        file.truncate(32 * 1024 * 1024 + 1)
    with pytest.raises(PlanError, match="too large"):
        said(show_command, folder)


def test_show_of_no_run_or_no_stage_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="no run here"):
        said(show_command, tmp_path, "--stage", "pick")
    run = saved(proved(tmp_path / "run"))
    with pytest.raises(PlanError, match="no such stage"):
        said(show_command, run, "--stage", "serve")


def test_hostile_text_moves_no_cursor_and_is_no_markup(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.stage("audit", Outcome.FAIL, "[bold]x[/bold] \x1b[2J\x1b]0;title\x07 [/nothing]")
    text = said(show_command, saved(folder))
    assert "[bold]x[/bold]" in text
    assert "\x1b" not in text
    assert "\x07" not in text


def test_diff_of_a_run_with_itself_is_empty(tmp_path: Path) -> None:
    folder = saved(proved(tmp_path))
    found = shown(diff_command, folder, folder)
    assert found["changes"] == []
    assert min(found["same"].values()) > 3, "something of each topic was compared"
    assert "code: the same; environment: the same; outcome: the same" in found["sentence"]


def test_diff_tells_code_environment_and_outcome_apart(tmp_path: Path) -> None:
    before = saved(proved(tmp_path / "1"))
    other = Folder(tmp_path / "2")
    other.pick(head_tree="f" * 40)
    other.fixup()
    other.install()
    other.verify()
    cases = [*level_2_cases()[:9], *three("compute", "fail", "fail", "fail", expected="pass", verdict="failed")]
    other.validate(cases, Outcome.FAIL, facts={"torch": "2.14.0"})
    found = shown(diff_command, before, saved(other))
    changed = {(each["topic"], each["name"]): (each["before"], each["after"]) for each in found["changes"]}
    assert changed["code", "tree of pick"] == ("2" * 40, "f" * 40)
    assert changed["environment", "torch"] == ("2.13.0", "2.14.0")
    assert changed["outcome", "run"] == ("pass", "fail")
    assert changed["outcome", "rows under compute on fixed"][1] == "fail, failed: fail"
    assert ("environment", "python") not in changed
    assert "pass at level 2 → fail" in said(diff_command, before, other.path)


def test_diff_tells_how_far_each_round_under_load_went(tmp_path: Path) -> None:
    before, after = saved(proved(tmp_path / "1")), saved(with_load(tmp_path / "2"))
    changed = {each["name"]: each["after"] for each in shown(diff_command, before, after)["changes"]}
    assert changed["decode on fixed, round 1"] == "pass, held up to 16 at once"
    assert changed["stage serve"] == "pass"


def test_no_cell_is_cut_short(tmp_path: Path) -> None:
    path = f"pkg/{'deep/' * 60}rows.py"
    other = Folder(tmp_path / "2")
    other.pick()
    change = FileChange(path=path, before=None, after="f" * 40)
    record = FixupRecord(head=FIXED, head_tree=FIXED, fixups=(), changes=(change,))
    other.stage("fixup", evidence=(other.record("fixup", record),))
    text = said(diff_command, saved(proved(tmp_path / "1")), saved(other))
    first_column = "".join(line.split("│")[1].strip() for line in text.splitlines() if line.startswith("│"))
    assert f"file{path}" in first_column.replace(" ", "")


def test_diff_says_what_one_run_does_not_have(tmp_path: Path) -> None:
    short = Folder(tmp_path / "short")
    short.pick()
    whole = proved(tmp_path / "whole")
    saved(short), saved(whole)
    (whole.path / "install/install.json").write_text("{}")
    one, two = (run_verdict.read_evidence(each.ledger, each.run, REGISTRY) for each in (short, whole))
    found = run_diff.compare_runs(RunView(loaded=one), RunView(loaded=two))
    assert next(each for each in found.changes if each.name == "tree of fixed").before is None
    assert any("install/install.json is missing or altered" in note for note in found.notes)
    assert not any(each.name == "project" for each in found.changes), "an altered record is not compared"


def test_runs_lists_the_newest_first_and_what_cannot_be_read(tmp_path: Path) -> None:
    saved(proved(tmp_path / "old"))
    ledger = proved(tmp_path / "deep/er/new").ledger
    ledger.save_run(proved(tmp_path / "deep/er/new").run.model_copy(update={"started": "2027-01-01T00:00:00+00:00"}))
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut/run.json").write_text('{"schema_version": 99}')
    rows = shown(show_command, tmp_path)["runs"]
    assert [each["folder"] for each in rows] == ["deep/er/new", "old", "cut"]
    assert [each["outcome"] for each in rows] == ["error", "pass", None]
    lines = said(show_command, tmp_path).splitlines()
    assert lines[0] == "deep/er/new error small on release/1, emulator, 2027-01-01T00:00:00+00:00"
    assert lines[1] == "old pass, level 2 small on release/1, emulator, 2026-01-02T03:04:05+00:00"
    assert lines[2].startswith("  PASS at level 2 (emulated): 2 proofs")
    assert lines[3].strip() == "cut unreadable"


@pytest.mark.parametrize("named", ["runs", "./runs", "here/../runs"])
def test_runs_are_found_below_a_folder_that_is_named_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    (tmp_path / "here").mkdir()
    saved(proved(tmp_path / "runs" / "one"))
    monkeypatch.chdir(tmp_path)
    (row,) = shown(show_command, named)["runs"]
    assert (row["folder"], row["kit"]) == ("one", "small")


def test_no_runs_is_no_error(tmp_path: Path) -> None:
    assert shown(show_command, tmp_path) == {"schema_version": 1, "runs": []}
    assert said(show_command, tmp_path) == f"no run in {tmp_path}\n"


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_what_is_no_folder_has_no_runs_to_list(path: str) -> None:
    done = CliRunner().invoke(show_command, [path])
    assert done.exit_code == 2
    assert f"{path} is no folder" in done.stderr


@pytest.mark.parametrize("name", ["show", "diff"])
def test_the_commands_are_on_the_command_line(name: str) -> None:
    assert "--json" in said(cli, name, "--help")


def test_a_sentence_that_goes_to_a_file_is_one_line(tmp_path: Path) -> None:
    folder = saved(proved(tmp_path))
    done = CliRunner(env={"COLUMNS": None}).invoke(show_command, [str(folder)], catch_exceptions=False)
    sentence = run_verdict.summarise_run(proved(tmp_path).run, proved(tmp_path).ledger, REGISTRY).sentence
    assert len(sentence) > 80
    assert sentence in done.stdout.splitlines()


def test_the_levels_have_the_names_of_the_device(tmp_path: Path) -> None:
    folder = Folder(tmp_path, device="cpu")
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    folder.validate(three("cpu", "fail", "pass", "pass"))
    assert "2 checked on a CPU reached" in said(show_command, saved(folder))


def test_a_command_that_is_misspelt_is_met_with_the_right_one() -> None:
    done = CliRunner().invoke(cli, ["triaeg"])
    assert done.exit_code == 2
    assert "No such command 'triaeg'. Did you mean 'triage'?" in done.output
    assert "Did you mean" not in CliRunner().invoke(cli, ["zzz"]).output


def test_a_run_that_was_killed_shows_no_verdict(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    folder.ledger.save_run(run_verdict.mark_unfinished(folder.run))
    text = said(show_command, tmp_path)
    assert "the command has not finished" in text
    assert "PASS" not in text
    facts = shown(show_command, tmp_path)["run"]
    assert (facts["outcome"], facts["level"]) == ("running", None)
