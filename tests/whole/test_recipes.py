"""The recipes of CONTRIBUTING.md and docs/triage.md, each followed once in a copy of the checkout.

The modules that they add lie in `recipes/`, where mypy and whoever renames a thing find them.

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
from typing import Any

import pytest
from checkout import ROOT, TESTS
from plain_job import PlainJob, make_job

CLI = "pipeline/backproof/cli.py"
SHOW = '        "show": '
STAGES = "pipeline/backproof/stages/__init__.py"
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


@dataclass(frozen=True)
class Checkout:
    """A copy of the checkout that the interpreter prefers to the installed package."""

    folder: Path

    def add_module(self, name: str, path: str) -> None:
        shutil.copy(TESTS / "whole" / "recipes" / f"{name}.py", self.folder / "pipeline" / "backproof" / path)

    def add(self, path: str, text: str) -> None:
        with (self.folder / path).open("a", encoding="utf-8") as stream:
            stream.write(text)

    def add_line(self, path: str, line: str, *, before: str) -> None:
        self.replace(path, before, f"{line}\n{before}")

    def replace(self, path: str, old: str, new: str) -> None:
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        file.write_text(text.replace(old, new), encoding="utf-8")

    def call(self, *args: str | Path, code: int = 0) -> str:
        env = {**os.environ, "PYTHONPATH": str(self.folder / "pipeline"), "COLUMNS": "240"}
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
    checkout.add_module("greet_command", "commands/greet.py")
    checkout.add_line(CLI, '        "greet": "greet:greet_command",', before=SHOW)
    checkout.call("docs/generate_commands.py")
    assert "\n  greet " in checkout.backproof("--help")
    assert checkout.backproof("greet", "you") == "hello you\n"
    assert (checkout.folder / "docs" / "commands" / "greet.md").is_file()
    assert checkout.count_passed("tests/whole/test_startup.py", "-k", "greet or says") == 2
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
    checkout.add_module("tally_record", "records/tally.py")
    checkout.add_module("tally_stage", "stages/tally.py")
    checkout.add_line(STAGES, "    tally,", before="    triage,\n    upstream_tests,\n    validate,")
    checkout.add_line(STAGES, "    tally,", before="    serve,\n    upstream_tests,\n    experiment,")
    checkout.count_passed("tests/whole/test_conformance.py")
    story = run_job(checkout, make_job(tmp_path / "job"), "cpu")
    assert [(result["outcome"], result["sentence"]) for result in story["stages"] if result["stage"] == "tally"] == [
        ("pass", "1 picked")
    ]


def test_a_device(checkout: Checkout, tmp_path: Path) -> None:
    checkout.add_module("turntable_device", "devices/turntable.py")
    init = "pipeline/backproof/devices/__init__.py"
    checkout.replace(init, "import ascend, cpu, emulator\n", "import ascend, cpu, emulator, turntable\n")
    checkout.replace(init, '"cpu": cpu}', '"cpu": cpu, "turntable": turntable}')
    assert "turntable" in checkout.backproof("run", "--help")
    checkout.count_passed("tests/whole/test_conformance.py")
    job = make_job(tmp_path / "job")
    plan = job.kit / "plan.toml"
    plan.write_text(plan.read_text().replace("[check.expect.cpu]", "[check.expect.turntable]"))
    assert "is valid" in checkout.backproof("plan", "check", job.kit)
    story = run_job(checkout, job, "turntable")
    assert "turntable" in story["sentence"]


def run_job(checkout: Checkout, job: PlainJob, device: str) -> dict[str, Any]:
    """Run it, which must pass, and return its run.json."""
    where = ("--repo", job.upstream.folder, "--python", job.target.python, "--device", device)
    checkout.backproof("run", job.kit, "--out", job.run_folder, *where)
    story = job.story()
    assert (story["outcome"], story["level"]) == ("pass", 2)
    assert story["sentence"] in checkout.backproof("show", job.run_folder)
    return story
