"""The workflow and the action: every script runs in bash with its inputs set, and no input becomes code."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from backproof import bundle
from backproof.cli import cli
from checkout import ROOT

WORKFLOW, ACTION = ROOT / "workflows/backproof.yml", ROOT / "workflows/action.yml"
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
OPTIONAL = ("check", "container", "extra", "environment", "tool", "index-url", "trusted-host", "wheelhouse", "cache")
"""Inputs that are empty where nobody sets them."""
HOSTILE = "x'\"; touch pwned; $(touch pwned) `touch pwned` && ::set-output name=a::b * ?"


def read(path: Path) -> dict[str, Any]:
    # YAML 1.1 takes the key `on` for a boolean.
    return {("on" if key is True else str(key)): value for key, value in yaml.safe_load(path.read_text()).items()}


@dataclass(frozen=True)
class Script:
    """One `run:` step."""

    name: str
    body: str
    env: dict[str, str]


def scripts() -> list[Script]:
    jobs = [step for job in read(WORKFLOW)["jobs"].values() for step in job["steps"]]
    steps = [each for each in (*jobs, *read(ACTION)["runs"]["steps"]) if "run" in each]
    return [Script(each["name"], each["run"], {k: str(v) for k, v in each.get("env", {}).items()}) for each in steps]


@dataclass
class Runner:
    """A runner's surroundings: a stand-in for the installed command that writes down what it was called with."""

    root: Path
    code: int = 0

    def prepare(self) -> dict[str, str]:
        tool = self.root / "bin/backproof"
        tool.parent.mkdir(parents=True)
        (self.root / "runs").mkdir(exist_ok=True)
        tool.write_text(
            f"#!{sys.executable}\nimport json, os, sys\n"
            "open(os.environ['CALLS'], 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n"
            "open(os.environ['CALLS'] + '.env', 'w').write(json.dumps(dict(os.environ)))\n"
            f"print('::error::from a target')\nsys.exit({self.code})\n"
        )
        tool.chmod(0o755)
        return {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "RUNNER_TEMP": str(self.root),
            "RUNNER_TOOL_CACHE": str(self.root / "tool cache"),
            "GITHUB_ACTION_PATH": str(ROOT / "workflows"),
            "GITHUB_OUTPUT": str(self.root / "output"),
            "CALLS": str(self.root / "calls"),
        }

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the last call."""
        found: dict[str, str] = json.loads((self.root / "calls.env").read_text())
        return found

    @property
    def calls(self) -> list[list[str]]:
        path = self.root / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def values(root: Path, inputs: dict[str, str]) -> dict[str, str]:
    """What the expressions of the two files stand for."""
    given = {
        "kit": "patches/19353",
        "repo": "https://example.org/r.git",
        "branch": "release/1",
        "device": "ascend",
        "devices": "ascend",
        "labels": "self-hosted,a3",
        "target-python": "/opt/python",
        "tool-python": sys.executable,
        "out": "",
        "language": "zh",
        "publish": "true",
        **dict.fromkeys(OPTIONAL, ""),
        "wait": "60",
        **inputs,
    }
    return {
        **{f"inputs.{name}": value for name, value in given.items()},
        "steps.tool.outputs.backproof": str(root / "bin/backproof"),
        "steps.install.outputs.backproof": str(root / "bin/backproof"),
        "steps.install.outputs.run": str(root / "run folder"),
        "steps.attest.outputs.bundle-path": str(root / "attestation of actions"),
        "secrets.BACKPROOF_TOKEN || github.token": "a-token",
    }


def run(
    script: Script, root: Path, inputs: dict[str, str] | None = None, *, code: int = 0
) -> tuple[subprocess.CompletedProcess[str], Runner]:
    runner = Runner(root, code)
    known = values(root, inputs or {})
    env = {name: EXPRESSION.sub(lambda found: known[found[1]], value) for name, value in script.env.items()}
    path = root / "step.sh"
    surroundings = runner.prepare()
    path.write_text(script.body)
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(path)],
        cwd=root,
        env={**surroundings, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done, runner


def named(name: str) -> Script:
    return next(each for each in scripts() if each.name == name)


def parse(call: list[str]) -> dict[str, Any]:
    """Hold a recorded call to the real command line; paths need not be there."""
    group: click.Group = cli
    name, command, rest = group.resolve_command(click.Context(group), list(call))
    if isinstance(command, click.Group):
        group = command
        name, command, rest = group.resolve_command(click.Context(group), rest)
    assert command is not None, name
    command = copy.deepcopy(command)
    for each in command.params:
        if isinstance(each.type, click.Path):
            each.type.exists = False
    return command.make_context(name, rest).params


def test_the_copy_that_github_runs_is_the_same() -> None:
    assert (ROOT / ".github/workflows/backproof.yml").read_bytes() == WORKFLOW.read_bytes()


@pytest.mark.parametrize("script", scripts(), ids=lambda each: each.name)
def test_no_expression_stands_in_a_script(script: Script) -> None:
    assert not EXPRESSION.search(script.body)


def test_actions_are_pinned_and_nothing_writes_by_default() -> None:
    workflow = read(WORKFLOW)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            uses = step.get("uses", "./")
            assert uses.startswith("./") or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", uses), uses
            if uses.startswith("actions/checkout@"):
                assert step["with"]["persist-credentials"] is False


def test_what_runs_the_target_has_no_token_and_what_has_it_runs_no_target() -> None:
    jobs = read(WORKFLOW)["jobs"]
    assert jobs["validate"]["permissions"] == {"contents": "read"}
    assert "secrets." not in json.dumps(jobs["validate"])
    assert "github.token" not in json.dumps(jobs["validate"])
    publish = jobs["publish"]
    assert publish["runs-on"] == "ubuntu-24.04"
    tokens = [step["name"] for step in publish["steps"] if "GH_TOKEN" in json.dumps(step)]
    assert tokens == ["Comment"]
    assert not [step for step in publish["steps"] if re.search(r"\b(run|resume|demo)\b \"", step.get("run", ""))]


def test_what_signs_runs_on_a_hosted_runner_and_nothing_of_the_target() -> None:
    jobs = read(WORKFLOW)["jobs"]
    assert [name for name, job in jobs.items() if "id-token" in job["permissions"]] == ["attest"]
    attest = jobs["attest"]
    assert attest["runs-on"] == "ubuntu-24.04"
    assert "secrets." not in json.dumps(attest)
    order = [step["name"] for step in attest["steps"]]
    assert order.index("Bundle") < order.index("Attest")
    (signed,) = [step["with"] for step in attest["steps"] if step["name"] == "Attest"]
    assert signed["predicate-type"] == bundle.predicate.PREDICATE_TYPE


def test_a_bundle_verifies_before_it_is_signed(tmp_path: Path) -> None:
    done, runner = run(named("Bundle"), tmp_path)
    assert done.returncode == 0, done.stderr
    made, verified, predicate = (parse(call) for call in runner.calls)
    assert made["folder"] == tmp_path / "run"
    assert made["out"] == verified["file"] == predicate["file"] == tmp_path / "attested/bundle.tar.gz"
    assert predicate["predicate"] is True
    refused, _ = run(named("Bundle"), tmp_path / "b", code=4)
    assert refused.returncode == 4


def test_nobody_elses_code_starts_it() -> None:
    assert set(read(WORKFLOW)["on"]) == {"workflow_dispatch", "workflow_call"}


def test_both_triggers_have_the_same_inputs() -> None:
    on = read(WORKFLOW)["on"]
    both = [{name: (each["type"], each.get("default")) for name, each in on[key]["inputs"].items()} for key in on]
    assert both[0] == both[1]


def test_every_input_is_used_and_every_use_is_an_input() -> None:
    text = WORKFLOW.read_text()
    used = set(re.findall(r"inputs\.([\w-]+)", text))
    assert used == set(read(WORKFLOW)["on"]["workflow_dispatch"]["inputs"])
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text()))
    assert used == set(read(ACTION)["inputs"])


def test_matrix(tmp_path: Path) -> None:
    done, runner = run(named("Matrix"), tmp_path)
    assert done.returncode == 0, done.stderr
    (call,) = runner.calls
    found = parse(call)
    assert (found["repo"], found["labels"], found["devices"]) == (
        "https://example.org/r.git",
        "self-hosted,a3",
        ("ascend",),
    )


def test_matrix_of_all_devices(tmp_path: Path) -> None:
    _, runner = run(named("Matrix"), tmp_path, {"devices": ""})
    assert "--device" not in runner.calls[0]


@pytest.mark.parametrize("code", [0, 1, 4])
def test_run_ends_as_backproof_ends_and_fences_what_it_prints(tmp_path: Path, code: int) -> None:
    done, runner = run(named("Run"), tmp_path, code=code)
    assert done.returncode == code
    found = parse(runner.calls[0])
    assert (found["device"], found["branch"], found["python"]) == ("ascend", "release/1", "/opt/python")
    assert found["out"] == tmp_path / "run folder"
    word = done.stdout.splitlines()[0].removeprefix("::stop-commands::")
    assert re.fullmatch(r"[0-9a-f]{32}", word)
    assert done.stdout.splitlines()[-1] == f"::{word}::"


@pytest.mark.parametrize(("code", "refused"), [(2, "refused=true\n"), (0, ""), (3, ""), (4, "")])
def test_what_an_earlier_job_has_left_is_not_shown_as_this_ones(tmp_path: Path, code: int, refused: str) -> None:
    """A folder with the run of something else is refused as a wrong use; what lies there is neither presented nor kept."""
    run(named("Run"), tmp_path, code=code)
    output = tmp_path / "output"
    assert (output.read_text() if output.exists() else "") == refused
    action = read(ACTION)
    (present,) = [step for step in action["runs"]["steps"] if step["name"] == "Present"]
    assert "steps.run.outputs.refused != 'true'" in present["if"]
    assert action["outputs"]["run"]["value"].startswith("${{ steps.run.outputs.refused != 'true' && ")


def test_run_on_the_emulator_without_a_target_makes_one(tmp_path: Path) -> None:
    _, runner = run(named("Run"), tmp_path, {"device": "emulator", "target-python": ""})
    assert runner.calls[0][0] == "demo"
    parse(runner.calls[0])


def test_present_needs_a_run(tmp_path: Path) -> None:
    done, runner = run(named("Present"), tmp_path)
    assert (done.returncode, runner.calls) == (0, [])


def test_present(tmp_path: Path) -> None:
    (tmp_path / "run folder").mkdir()
    (tmp_path / "run folder/run.json").touch()
    _, runner = run(named("Present"), tmp_path)
    assert parse(runner.calls[0])["folder"] == tmp_path / "run folder"


def test_merge(tmp_path: Path) -> None:
    done, runner = run(named("Merge"), tmp_path)
    assert done.returncode == 0, done.stderr
    assert parse(runner.calls[0])["expected"] == tmp_path / "matrix/matrix.json"


@pytest.mark.parametrize(("publish", "code"), [("true", 0), ("false", 0), ("true", 3)])
def test_comment(tmp_path: Path, publish: str, code: int) -> None:
    for name in ("run-a", "run-b b", "not-a-run"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        if name.startswith("run"):
            (tmp_path / "runs" / name / "run.json").touch()
    script = named("Comment")
    done, runner = run(script, tmp_path, {"publish": publish}, code=code)
    assert done.returncode == code
    calls = [parse(each) for each in runner.calls]
    assert [each["folder"].name for each in calls] == ["run-a", "run-b b"], "one refusal does not stop the others"
    assert all(each["really"] is (publish == "true") and each["lang"] == "zh" for each in calls)
    assert "a-token" not in done.stdout + done.stderr + json.dumps(runner.calls)


def test_a_comment_says_who_signed_where_somebody_has(tmp_path: Path) -> None:
    for name in ("run-a", "run-b b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").touch()
    signed = tmp_path / "attested/attested-b b"
    signed.mkdir(parents=True)
    (signed / "attestation.json").touch()
    _, runner = run(named("Comment"), tmp_path)
    attested = [parse(call)["attested"] for call in runner.calls]
    assert attested == [None, (signed / "bundle.tar.gz", signed / "attestation.json")]


@pytest.mark.parametrize(
    "script", [each for each in scripts() if each.name != "Install Backproof"], ids=lambda each: each.name
)
def test_hostile_inputs_stay_words(tmp_path: Path, script: Script) -> None:
    words = ("kit", "repo", "branch", "device", "devices", "labels", "target-python", "language", "container")
    hostile = dict.fromkeys((*words, "environment"), HOSTILE)
    done, runner = run(script, tmp_path, hostile)
    assert not list(tmp_path.rglob("pwned"))
    assert HOSTILE not in done.stdout
    for call in runner.calls:
        assert [each for each in call if "pwned" in each] == [each for each in call if each == HOSTILE]


INSTALL = named("Install Backproof")
MAKES_A_PYTHON = 'if [ "$2" = venv ]; then mkdir -p "${!#}/bin"; cp "$0" "${!#}/bin/python"; fi\n'


def a_python(folder: Path, more: str = MAKES_A_PYTHON) -> str:
    """A stand-in for an interpreter with pip: it writes down what it was called with, then does `more`."""
    fake = folder / "python"
    fake.write_text(f'#!/bin/bash\nprintf \'%s\\n\' "$*" >> "$RUNNER_TEMP/python-calls"\n{more}')
    fake.chmod(0o755)
    return str(fake)


def pip_calls(root: Path) -> list[str]:
    path = root / "python-calls"
    return [line for line in path.read_text().splitlines() if line.startswith("-m pip")] if path.exists() else []


def test_install_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """With a stand-in for pip's download; the real installation is what the wheel's test is for."""
    done, _ = run(INSTALL, tmp_path, {"tool-python": a_python(tmp_path), "out": "my run"})
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "output").read_text() == f"backproof={tmp_path}/backproof/bin/backproof\nrun=my run\n"
    assert pip_calls(tmp_path) == [f"-m pip install --quiet --disable-pip-version-check {ROOT}/workflows/.."]


@pytest.mark.parametrize(
    ("inputs", "options"),
    [
        (
            {"index-url": "https://mirror/simple", "trusted-host": "mirror"},
            "--index-url https://mirror/simple --trusted-host mirror",
        ),
        ({"wheelhouse": "/opt/wheels"}, "--no-index --find-links /opt/wheels"),
    ],
)
def test_install_from_where_the_inputs_say(tmp_path: Path, inputs: dict[str, str], options: str) -> None:
    run(INSTALL, tmp_path, {"tool-python": a_python(tmp_path), **inputs})
    (call,) = pip_calls(tmp_path)
    assert f" {options} " in call


@pytest.mark.parametrize(
    ("python", "advice"),
    [
        ("exit 1\n", "Python 3.11 or newer"),
        ('if [ "$2" = venv ]; then exit 1; fi\n', "makes no virtual environment"),
        (f'{MAKES_A_PYTHON}if [ "$2" = pip ]; then exit 1; fi\n', "name a mirror with index-url"),
    ],
    ids=["too old", "without venv", "without a network"],
)
def test_install_says_what_the_runner_lacks(tmp_path: Path, python: str, advice: str) -> None:
    done, _ = run(INSTALL, tmp_path, {"tool-python": a_python(tmp_path, python)})
    assert done.returncode == 4
    assert done.stdout.startswith("::error title=Backproof is not installed::")
    assert advice in done.stdout
    assert not (tmp_path / "output").exists()


def test_an_installed_tool_is_taken_as_it_is(tmp_path: Path) -> None:
    tool = tmp_path / "bin/backproof"
    done, runner = run(INSTALL, tmp_path, {"tool": str(tool), "tool-python": "/no/python"})
    assert done.returncode == 0, done.stderr
    assert runner.calls == [["--version"]]
    assert (tmp_path / "output").read_text().startswith(f"backproof={tool}\n")


def test_a_tool_that_is_not_there_is_said(tmp_path: Path) -> None:
    done, _ = run(INSTALL, tmp_path, {"tool": "/no/tool"})
    assert done.returncode == 4
    assert "names no backproof command" in done.stdout


def test_the_cache_has_it_the_second_time_and_makes_what_is_half_done_again(tmp_path: Path) -> None:
    inputs = {"tool-python": a_python(tmp_path), "cache": "true"}
    for _ in range(2):
        shutil.rmtree(tmp_path / "bin", ignore_errors=True)
        done, _ = run(INSTALL, tmp_path, inputs)
        assert done.returncode == 0, done.stderr
    assert len(pip_calls(tmp_path)) == 1
    (complete,) = (tmp_path / "tool cache").glob("backproof/*/complete")
    complete.unlink()
    shutil.rmtree(tmp_path / "bin")
    run(INSTALL, tmp_path, inputs)
    assert len(pip_calls(tmp_path)) == 2
    assert complete.exists()


def test_install_refuses_an_output_with_a_line_end(tmp_path: Path) -> None:
    done, _ = run(INSTALL, tmp_path, {"tool-python": a_python(tmp_path), "out": "a\nbackproof=/evil"})
    assert done.returncode == 2
    assert not (tmp_path / "output").exists()


def test_the_environment_script_is_read_before_the_run(tmp_path: Path) -> None:
    script = tmp_path / "set env.sh"
    script.write_text("export DEVICE_IS_SET_UP=yes\n")
    done, runner = run(named("Run"), tmp_path, {"environment": str(script)}, code=3)
    assert done.returncode == 3
    assert runner.calls[0][0] == "run"
    assert runner.environment["DEVICE_IS_SET_UP"] == "yes"


@pytest.mark.parametrize("text", [None, "return 1\n"], ids=["not there", "fails"])
def test_an_environment_script_that_fails_says_nothing_of_the_backport(tmp_path: Path, text: str | None) -> None:
    script = tmp_path / "set_env.sh"
    if text:
        script.write_text(text)
    done, runner = run(named("Run"), tmp_path, {"environment": str(script)})
    assert done.returncode == 4
    assert runner.calls == []


def test_a_login_shell_reads_its_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".bash_profile").write_text("export DEVICE_IS_SET_UP=login\n")
    done, runner = run(named("Run"), tmp_path, {"environment": "login"}, code=1)
    assert done.returncode == 1
    assert runner.environment["DEVICE_IS_SET_UP"] == "login"
