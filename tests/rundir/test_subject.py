"""A run stays what it was begun with: no option lays another name over it, and no reader believes one."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from backproof.app import execution
from backproof.cli import cli
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Outcome
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.rundir.ledger import Ledger
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from checkout import all_commands
from click.testing import CliRunner, Result
from plain_job import PlainJob, make_job
from stories import Folder, case, proved, three

FINISHED = "finished"
OTHER = "releases/v9.9"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    """One finished run, and beside it another kit of the same id and another repository: nobody changes them."""
    job = make_job(tmp_path_factory.mktemp("subject") / "job")
    done = job.run()
    assert done.returncode == 0, done.stderr
    job.run_folder.rename(job.folder / FINISHED)
    shutil.copytree(job.kit, job.folder / "other kit")
    shutil.copytree(job.upstream.folder, job.folder / "other upstream")
    return job


@pytest.fixture
def job(shared: PlainJob, monkeypatch: pytest.MonkeyPatch) -> PlainJob:
    """The finished run in a folder of the test's own; the current folder is the one that holds the kit."""
    if shared.run_folder.exists():
        shutil.rmtree(shared.run_folder)
    shutil.copytree(shared.folder / FINISHED, shared.run_folder, symlinks=True)
    monkeypatch.chdir(shared.folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(shared.folder / "state"))
    return shared


def call(*words: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "240"}).invoke(cli, [str(each) for each in words])


def files(folder: Path) -> dict[str, str]:
    """Every file below the folder with its hash."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def openers() -> list[str]:
    """The commands that open a run folder and take the options that say where a run works."""
    options = {path: {option.name for option in command.params} for path, command in all_commands()}
    return [" ".join(path) for path, names in options.items() if {"branch", "python", "device", "signoff"} <= names]


OPENERS = openers()


def opened(command: str, job: PlainJob) -> list[str | Path]:
    """The command on the finished run."""
    if command == "run":
        return ["run", job.run_folder]
    return [*command.split(), "--run", job.run_folder, *(["any"] if command == "host experiment" else [])]


def others(job: PlainJob) -> dict[str, tuple[str, list[str]]]:
    """Options that name another subject, each with the words that the refusal must have."""
    upstream = job.folder / "other upstream"
    return {
        "branch": (OTHER, ["--branch", "'release'", f"'{OTHER}'"]),
        "device": ("emulator", ["--device", "'cpu'", "'emulator'"]),
        "python": (sys.executable, ["--python", str(job.target.python), sys.executable]),
        "repo": (str(upstream), ["--repo", str(job.upstream.folder), str(upstream)]),
    }


def refused(done: Result, *words: str) -> None:
    assert isinstance(done.exception, PlanError), done.output
    assert done.exception.exit_code == 2
    for word in words:
        assert word in done.exception.what
    assert "--run" in done.exception.next_step
    assert "--out" in done.exception.next_step
    assert done.stdout == ""


def test_the_commands_that_open_a_run_are_the_known_ones() -> None:
    assert set(OPENERS) == {"run", "host serve", "host experiment", "host upstream-tests"}


@pytest.mark.parametrize("command", OPENERS)
def test_another_value_is_refused_and_nothing_is_touched(job: PlainJob, command: str) -> None:
    before = files(job.run_folder), files(job.target.site)
    for option, (value, words) in others(job).items():
        refused(call(*opened(command, job), f"--{option}", value), *words)
        assert (files(job.run_folder), files(job.target.site)) == before, option


@pytest.mark.parametrize("command", OPENERS)
def test_another_kit_is_refused_and_nothing_is_touched(job: PlainJob, command: str) -> None:
    kit = job.folder / "other kit"
    argv = opened(command, job)
    argv = ["run", kit, "--out", job.run_folder] if command == "run" else [*argv, "--kit", kit]
    before = files(job.run_folder)
    refused(call(*argv), "--kit", str(job.kit), str(kit))
    assert files(job.run_folder) == before


def test_another_signoff_is_refused(job: PlainJob) -> None:
    refused(call("run", job.run_folder, "--signoff"), "--no-signoff", "--signoff")
    assert call("run", job.run_folder, "--only", "report", "--no-signoff").exit_code == 0


def test_all_that_differs_is_named_at_once_with_exit_code_2(job: PlainJob) -> None:
    before = files(job.run_folder)
    done = job.backproof("run", "run", "--only", "report", "--branch", OTHER, "--device", "emulator")
    assert done.returncode == 2
    assert "PASS" not in done.stdout + done.stderr
    for word in ("--branch 'release'", f"--branch '{OTHER}'", "--device 'cpu'", "--device 'emulator'", "next: "):
        assert word in done.stderr
    assert files(job.run_folder) == before


@pytest.mark.parametrize(
    "words",
    [
        ["kit", "--out", "run", "--repo", "upstream", "--python", "target env/bin/python"],
        ["other kit/../kit", "--out", "run", "--repo", "kit/../upstream", "--python", "kit/../target env/bin/python"],
        ["run", "--branch", "release", "--device", "cpu", "--no-signoff"],
    ],
)
def test_the_same_value_in_another_spelling_is_the_same(job: PlainJob, words: list[str]) -> None:
    before = json.loads((job.run_folder / "run.json").read_text())
    done = call("run", *words, "--only", "report")
    assert done.exit_code == 0, done.output
    after = json.loads((job.run_folder / "run.json").read_text())
    assert (after["settings"], after["outcome"], after["level"]) == (before["settings"], "pass", 2)


def test_a_link_is_the_folder_that_it_points_at_and_an_interpreter_is_not(job: PlainJob, tmp_path: Path) -> None:
    (tmp_path / "kit").symlink_to(job.kit)
    (tmp_path / "python").symlink_to(job.target.python)
    assert call("run", tmp_path / "kit", "--out", job.run_folder, "--only", "report").exit_code == 0
    refused(call("run", job.run_folder, "--only", "report", "--python", tmp_path / "python"), str(tmp_path / "python"))


def test_run_goes_on_in_its_folder_with_the_same_words(job: PlainJob) -> None:
    done = job.backproof("run", "kit", "--out", "run", "--repo", "upstream", "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert [each["stage"] for each in job.story()["stages"] if each["reused"]] == ["pick", "fixup", "validate"]


def test_another_plan_in_the_same_place_is_refused(job: PlainJob) -> None:
    path = job.kit / "plan.toml"
    text = path.read_text()
    before = files(job.run_folder)
    path.write_text(text.replace('id = "plain"', 'id = "strict"'))
    done = call("run", job.run_folder, "--only", "report")
    path.write_text(text)
    assert isinstance(done.exception, PlanError)
    assert "this run is of kit plain, the plan is of strict" in done.exception.what
    assert files(job.run_folder) == before


def test_a_run_that_another_process_began_meanwhile_is_not_renamed(job: PlainJob) -> None:
    """Settings are read before the lock is held: what was written until then counts."""
    ledger = Ledger(job.run_folder)
    run = ledger.load_run()
    assert run is not None
    settings = run.settings.model_copy(update={"branch": OTHER})
    with pytest.raises(PlanError, match="--branch"):
        execution._read_current(ledger, load_plan(job.kit, DEVICES), settings)


def test_a_run_json_that_cannot_be_read_names_no_subject(job: PlainJob) -> None:
    (job.run_folder / "run.json").write_text("{")
    done = job.backproof(*job.arguments(), "--branch", "release", "--signoff")
    assert done.returncode == 0, done.stderr
    assert job.story()["settings"]["signoff"] is True


def test_undo_and_a_loaded_address_are_of_the_same_run(job: PlainJob, tmp_path: Path) -> None:
    before = files(job.run_folder)
    refused(call("run", job.run_folder, "--undo", "--python", sys.executable), sys.executable)
    address = ["--url", "http://127.0.0.1:9", "--arm", "fixed"]
    refused(call("host", "serve", "--run", job.run_folder, "--kit", job.folder / "other kit", *address), "other kit")
    assert files(job.run_folder) == before
    away = job.kit.rename(tmp_path / "away")
    done = call("run", job.run_folder, "--undo")
    away.rename(job.kit)
    assert done.exit_code == 0, "undo does not need the kit"


def test_the_doctor_keeps_nothing_of_another_host_or_kit_in_a_run(job: PlainJob) -> None:
    before = files(job.run_folder)
    for option, value in (("--python", sys.executable), ("--plan", str(job.folder / "other kit"))):
        refused(call("host", "doctor", "--run", job.run_folder, option, value), value)
    assert files(job.run_folder) == before


def test_an_audit_of_another_kit_is_not_kept_in_a_run(job: PlainJob, tmp_path: Path) -> None:
    shutil.copytree(job.kit, tmp_path / "kit")
    path = tmp_path / "kit" / "plan.toml"
    path.write_text(path.read_text().replace('id = "plain"', 'id = "strict"'))
    done = call("audit", tmp_path / "kit", "--run", job.run_folder)
    assert isinstance(done.exception, PlanError)
    assert "this run is of kit plain, the plan is of strict" in done.exception.what


# What readers believe.


def relabelled(folder: Path, **changes: str) -> None:
    """As with an editor: the settings of run.json say something else, and no hash is touched."""
    path = folder / "run.json"
    data = json.loads(path.read_text())
    data["settings"].update(changes)
    path.write_text(json.dumps(data))


RENAMED: list[tuple[dict[str, str], tuple[str, ...]]] = [
    ({"branch": OTHER}, ("pick/pick.json", "branch 'release'", f"'{OTHER}'")),
    ({"device": "ascend"}, ("validate/validate.json", "device 'cpu'", "'ascend'")),
]


@pytest.mark.parametrize(("changes", "words"), RENAMED)
def test_no_reader_passes_a_run_under_another_name(
    job: PlainJob, tmp_path: Path, changes: dict[str, str], words: tuple[str, ...]
) -> None:
    relabelled(job.run_folder, **changes)
    file = tmp_path / "run.tar.gz"
    merged = ["ci", "merge", job.run_folder, "--kit", job.kit, "--out", tmp_path / "merged"]
    commands: list[list[Any]] = [
        ["ci", "present", job.run_folder],
        ["bundle", job.run_folder, "--out", file],
        ["bundle", "--verify", file],
        merged,
        ["run", job.run_folder, "--only", "report"],
        ["show", job.run_folder],
    ]
    first = call("show", job.run_folder)
    assert first.output.splitlines()[1].startswith("ERROR: no verdict")
    assert all(word in first.output.splitlines()[1] for word in words)
    told = [(next(word for word in argv if word != "ci"), call(*argv)) for argv in commands]
    for name, done in told:
        assert "PASS at level" not in done.output, name
        if name not in {"bundle", "present"}:
            assert all(word in done.output for word in words), (name, done.output)
    assert "ERROR: no verdict" in dict(told)["present"].output
    assert dict(told)["merge"].exit_code == Outcome.ERROR.exit_code
    assert json.loads((tmp_path / "merged" / "merged.json").read_text())["outcome"] == "error"
    assert job.story()["outcome"] == "error"
    assert "PASS at level" not in (job.run_folder / "comment.md").read_text()
    assert words[0] in (job.run_folder / "junit.xml").read_text()


def summarised(folder: Folder, **changes: str) -> Any:
    settings = folder.run.settings.model_copy(update=changes)
    return run_verdict.summarise_run(folder.run.model_copy(update={"settings": settings}), folder.ledger, REGISTRY)


def test_the_verdict_names_the_record_and_both_values(tmp_path: Path) -> None:
    run = summarised(proved(tmp_path), branch=OTHER)
    assert (run.outcome, run.level) == (Outcome.ERROR, None)
    assert "pick/pick.json is of branch 'release/1', run.json of 'releases/v9.9'" in run.sentence
    run = summarised(proved(tmp_path), device="ascend")
    assert (run.outcome, run.level) == (Outcome.ERROR, None), "no record is of that device"
    assert "validate/validate.json is of device 'emulator', run.json of 'ascend'" in run.sentence


def test_it_is_no_fail_of_the_other_branch_either(tmp_path: Path) -> None:
    red = [*three("raw", "fail", "pass", "pass"), case("compute", Arm.FIXED, "fail", "pass", verdict="failed")]
    folder = proved(tmp_path, red, Outcome.FAIL)
    assert run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY).outcome is Outcome.FAIL
    run = summarised(folder, branch=OTHER)
    assert run.outcome is Outcome.ERROR
    assert OTHER in run.sentence


def test_a_name_from_outside_stays_one_bounded_line(tmp_path: Path) -> None:
    run = summarised(proved(tmp_path), branch="a\x1b[31m\n::error::" + "b" * 10_000)
    assert run.outcome is Outcome.ERROR
    assert run.sentence.isprintable()
    assert len(run.sentence) < 1000
