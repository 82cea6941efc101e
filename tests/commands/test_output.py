"""Text from outside on a terminal and in a log of Actions: whichever command prints it, it is only text."""

from __future__ import annotations

import ast
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any

import backproof
import pytest
from backproof import bundle, cli
from backproof.commands import output
from backproof.core.errors import ExitCode
from backproof.core.model import Finding, Outcome
from click.testing import CliRunner
from stories import Folder, level_2_cases, proved

from tests.bundle.test_bundle import loaded
from tests.commands.test_github import kit, world

__all__ = ["kit", "world"]

HOSTILE = "\x1b]0;title\x07\x1b[31mred\x9b1m \u202ethgir\u2066 \x00\r::error::one\n::add-mask::two\n ::three::\x85##[group]four"
ARGUMENT = HOSTILE.replace("\0", "")
LOG = f"RuntimeError: MTE error 507011 {HOSTILE}\n".encode()
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
# https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
COMMANDS = Path(backproof.__file__).parent / "commands"


@pytest.fixture
def run(tmp_path: Path) -> Folder:
    """A run folder with hostile text wherever a stage writes text."""
    folder = Folder(tmp_path / "run")
    folder.pick(commit={"subject": HOSTILE, "author": HOSTILE})
    folder.fixup()
    folder.install()
    folder.verify()
    folder.validate(level_2_cases())
    folder.stage("audit", sentence=HOSTILE, findings=(Finding(severity="warning", text=HOSTILE, where=HOSTILE),))
    folder.save()
    return folder


def printed(*words: Any) -> str:
    done = CliRunner().invoke(cli.cli, [str(word) for word in words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert done.output
    return done.output


def assert_inert(text: str) -> None:
    assert not CONTROL.search(text)
    assert not COMMAND.search(text)


@pytest.mark.parametrize("command", ["show", "show --json", "show --stage audit", "show --stage pick --json"])
def test_a_run_is_shown_as_text(run: Folder, command: str) -> None:
    run.ledger.save_run(run.run.model_copy(update={"title": HOSTILE, "sentence": HOSTILE}))
    text = printed(*command.split(), run.path)
    assert_inert(text)
    assert "red" in text


def test_runs_and_their_differences_are_shown_as_text(run: Folder) -> None:
    other = proved(run.path.parent / "other")
    other.save()
    run.ledger.save_run(run.run.model_copy(update={"title": HOSTILE, "sentence": HOSTILE}))
    for words in (["show", run.path.parent], ["diff", run.path, other.path]):
        assert_inert(printed(*words))
        assert_inert(printed(*words, "--json"))


def test_a_comment_is_printed_as_text(run: Folder, kit: Path, world: Any) -> None:
    assert_inert(printed("ci", "present", run.path, "--kit", kit))
    assert_inert(printed("publish", run.path, "--kit", kit))


def test_a_stage_prints_its_findings_as_text(run: Folder, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        output.finish_stage(run.run, run.stages[-1].stage, as_json=False)
    text = capsys.readouterr().out
    assert "warning" in text
    assert_inert(text)


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("comment", [True, False])
def test_the_end_of_a_run_is_printed_as_text(
    run: Folder, kit: Path, capsys: pytest.CaptureFixture[str], as_json: bool, comment: bool
) -> None:
    run.ledger.write_text("a.md", HOSTILE)
    failed = run.stages[-1].model_copy(update={"outcome": Outcome.FAIL})
    facts = {"files": {"comment.md": "a.md"}, "stages": (failed,), "outcome": Outcome.FAIL, "title": HOSTILE}
    settings = run.run.settings.model_copy(update={"kit": str(kit)})
    ended = run.run.model_copy(update={**facts, "settings": settings})
    with pytest.raises(SystemExit):
        output.finish_run(ended, run.path, as_json=as_json, comment=comment)
    text = capsys.readouterr().out
    assert "three::" in text
    assert_inert(text)


def test_a_bundle_is_verified_in_plain_text(run: Folder) -> None:
    file = bundle.make_bundle(loaded(run), run.path.parent / "bundle.tar.gz").file
    assert_inert(printed("bundle", "--verify", file))
    assert_inert(printed("bundle", "--comment", "--verify", file))


def test_a_log_is_told_as_text(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(LOG)
    for option in ([], ["--json"], ["--markdown"]):
        assert_inert(printed("triage", *option, log))


def test_a_name_in_an_archive_is_listed_as_text(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "logs.tar", "w") as archive:
        for name in (f"{ARGUMENT}.log", f"{ARGUMENT}.png"):
            member = tarfile.TarInfo(name)
            member.size = len(LOG)
            archive.addfile(member, io.BytesIO(LOG))
    for option in ([], ["--json"], ["--markdown"]):
        text = printed("triage", *option, tmp_path / "logs.tar")
        assert "red" in text
        assert_inert(text)


def test_json_says_what_was_there(run: Folder) -> None:
    run.ledger.save_run(run.run.model_copy(update={"title": HOSTILE}))
    assert json.loads(printed("show", run.path, "--json"))["run"]["title"] == HOSTILE


@pytest.mark.parametrize(
    "words", [["plan", "check", ARGUMENT], [ARGUMENT], ["show", ARGUMENT], ["show", f"--{ARGUMENT}"]]
)
def test_an_error_is_printed_as_text(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == ExitCode.USAGE
    text = capsys.readouterr().err
    assert "red" in text
    assert_inert(text)


@pytest.mark.parametrize("module", sorted(COMMANDS.rglob("*.py")), ids=lambda path: str(path.relative_to(COMMANDS)))
def test_only_one_module_writes_to_the_terminal(module: Path) -> None:
    """A command that prints by itself would print a title raw."""
    if module.name == "output.py":
        return
    names = {ast.unparse(node) for node in ast.walk(ast.parse(module.read_text())) if isinstance(node, ast.expr)}
    assert not names & {"click.echo", "click.secho", "print", "Console", "sys.stdout"}
