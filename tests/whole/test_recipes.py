"""The recipes of CONTRIBUTING.md and docs/triage.md, each followed once in a copy of the checkout.

A kit by `new` is followed to its end in tests/scaffold/test_from_commits.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkout import ROOT
from plain_job import make_job

COPIED = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "docs",
    "patches",
    "pipeline",
    "pyproject.toml",
    "reports",
    "tests",
)
COMMAND = '''
"""greet: one line."""

from __future__ import annotations

import click


@click.command("greet")
@click.argument("name")
def greet_command(*, name: str) -> None:
    """Greet NAME."""
    click.echo(f"hello {name}")
'''
LINE = (
    "[ERROR] RUNTIME(700,):2027-02-14-10:00:00.000.000 [flux.cc:1]7 FluxCheck:the flux capacitor is empty, device_id=3"
)
RULE = f"""
[[rule]]
id = 'flux-empty'
pattern = 'flux capacitor is empty'
role = 'first-fault'
kind = 'aicore'
weight = 90
meaning = 'the flux capacitor ran out'
example = '{LINE}'
counterexample = '{LINE.replace("empty", "full")}'
"""
STORY = f"""# a rule that was added
kind: aicore
device: 3
== plog-700_20270214100000001.log
! {LINE}
"""
RECORD = '''
"""What the stage `tally` leaves."""

from __future__ import annotations

from backproof.core.model import Record


class TallyRecord(Record):
    """tally/tally.json."""

    schema_version: int = 1
    commits: int
'''
STAGE = '''
"""Counts the commits that were picked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.records.tally import TallyRecord
from backproof.records.proof import PickRecord, StageResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "tally"
NEEDS: tuple[type[Record], ...] = (PickRecord,)
RECORD = TallyRecord
ROLE = StageRole.BESIDE
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    return {"picked": ctx.need(PickRecord).model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    record = TallyRecord(commits=len(ctx.need(PickRecord).commits))
    evidence = ctx.keep(record, claim="how many commits were picked", command="backproof run")
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=f"{record.commits} picked", evidence=(evidence,))
'''


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout that the interpreter prefers to the installed package."""

    folder: Path

    def add(self, path: str, text: str) -> None:
        with (self.folder / path).open("a", encoding="utf-8") as stream:
            stream.write(text)

    def add_line(self, path: str, line: str, *, before: str) -> None:
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(before) == 1, before
        file.write_text(text.replace(before, f"{line}\n{before}"), encoding="utf-8")

    def call(self, *args: str | Path, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": str(self.folder / "pipeline")}
        command = [sys.executable, *map(str, args)]
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def backproof(self, *args: str | Path, code: int = 0) -> str:
        return self.call("-m", "backproof", *args, code=code)

    def count_passed(self, *args: str) -> int:
        """Run tests of the copy, which must pass, and return how many there were."""
        out = self.call("-m", "pytest", "-q", "-p", "no:cacheprovider", *args)
        return int(re.findall(r"(\d+) passed", out)[-1])


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    copy = Checkout(tmp_path / "checkout")
    copy.folder.mkdir()
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy.folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy.folder)
    assert str(copy.folder) in copy.call("-c", "import backproof; print(backproof.__file__)")
    return copy


def test_a_command(checkout: Checkout) -> None:
    checkout.add("pipeline/backproof/commands/greet.py", COMMAND)
    checkout.add_line(
        "pipeline/backproof/cli.py",
        '        "greet": ("greet:greet_command", "Greet NAME."),',
        before='        "demo": (',
    )
    checkout.call("docs/generate_commands.py")
    assert "\n  greet " in checkout.backproof("--help")
    assert checkout.backproof("greet", "you") == "hello you\n"
    assert (checkout.folder / "docs" / "commands" / "greet.md").is_file()
    assert checkout.count_passed("tests/whole/test_startup.py", "-k", "greet") == 2
    assert checkout.count_passed("tests/commands/test_command_pages.py") == 3


def test_a_rule(checkout: Checkout) -> None:
    log = checkout.folder / "plog-700_20270214100000001.log"
    log.write_text(LINE + "\n")
    before = json.loads(checkout.backproof("triage", log, "--json", code=4))
    assert (before["first_fault"], before["unknown_lines"]) == (None, [f"{log.name}:1"])
    checkout.add("pipeline/backproof/triage/rules/10-runtime.toml", RULE)
    checkout.add("tests/triage/cases/flux.case", STORY)
    assert "every rule holds" in checkout.backproof("plan", "rules")
    after = json.loads(checkout.backproof("triage", log, "--json", code=1))
    assert (after["first_fault"]["line"], after["unknown_lines"]) == (1, [])
    assert checkout.count_passed("tests/triage/test_cases.py", "-k", "flux") == 2


def test_a_stage(checkout: Checkout, tmp_path: Path) -> None:
    checkout.add("pipeline/backproof/records/tally.py", RECORD)
    checkout.add("pipeline/backproof/stages/tally.py", STAGE)
    checkout.add_line(
        "pipeline/backproof/stages/__init__.py", "    tally,", before="    doctor,\n    experiment,\n    fixup,"
    )
    checkout.add_line("pipeline/backproof/stages/__init__.py", "    tally,", before='    report,\n    publish,\n)\n"""')
    assert checkout.count_passed("tests/whole/test_conformance.py", "-k", "stage and not device") >= 10
    job = make_job(tmp_path / "job")
    where = ("--repo", job.upstream.folder, "--python", job.target.python, "--device", "cpu")
    checkout.backproof("run", job.kit, "--out", job.run_folder, *where)
    story = job.story()
    assert [(result["outcome"], result["sentence"]) for result in story["stages"] if result["stage"] == "tally"] == [
        ("pass", "1 picked")
    ]
    assert (story["outcome"], story["level"]) == ("pass", 2)
    assert "1 picked" in checkout.backproof("show", job.run_folder)
