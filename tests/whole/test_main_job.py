"""The main job on the real release: what the README promises, and what must not pass."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from checkout import ROOT
from comment_size import measure_comment, visible_part
from real_target import RealTarget, backproof, make, small_kit

pytestmark = pytest.mark.target
WRAPPER = "vllm_ascend/models/glm5next/ops/causal_conv1d.py"
KERNEL = "vllm_ascend/ops/triton/kda/conv_state.py"
SCHEMA = json.loads((ROOT / "docs" / "schema" / "run.schema.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class Job:
    """One small job: kit, upstream, target, run folder."""

    folder: Path
    kit: Path
    upstream: Path
    target: RealTarget

    @property
    def run_folder(self) -> Path:
        return self.folder / "run"

    def options(self) -> list[str]:
        return ["--repo", str(self.upstream), "--python", str(self.target.python), "--device", "emulator"]

    def run(self, **env: str) -> subprocess.CompletedProcess[str]:
        return backproof("run", str(self.kit), "--out", str(self.run_folder), *self.options(), cwd=self.folder, **env)

    def stage(self, name: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return backproof("run", str(self.run_folder), "--only", name, *args, cwd=self.folder, **env)

    def undo(self, *args: str) -> subprocess.CompletedProcess[str]:
        return backproof("run", str(self.run_folder), "--undo", *args, cwd=self.folder)

    def story(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.run_folder / "run.json").read_text(encoding="utf-8"))
        return found

    def stage_of(self, name: str) -> dict[str, Any]:
        return next(each for each in self.story()["stages"] if each["stage"] == name)


@pytest.fixture
def job(tmp_path: Path, target_python: Path, target_upstream: Path) -> Job:
    folder = tmp_path / "work"
    folder.mkdir()
    return Job(
        folder=folder,
        kit=small_kit(tmp_path / "kit" / "19353"),
        upstream=target_upstream,
        target=make(tmp_path / "target", target_python),
    )


def tree(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_whole_kit_passes_at_level_2_and_leaves_everything_as_it_was(job: Job) -> None:
    """The run.json of the demo, in full: outcome, level, arms, evidence, schema."""
    shutil.rmtree(job.kit)
    shutil.copytree(ROOT / "patches" / "19353", job.kit)
    before, upstream = job.target.snapshot(), tree(job.upstream)
    done = job.run()
    assert done.returncode == 0, done.stderr
    story = job.story()
    assert (story["outcome"], story["level"]) == ("pass", 2)
    assert {arm: each["outcome"] for arm, each in story["arms"].items()} == {
        "base": "fail",
        "pick": "pass",
        "fixed": "pass",
    }
    assert all(each["as_expected"] for each in story["arms"].values())
    jsonschema.Draft202012Validator(SCHEMA).validate(story)
    for each in story["evidence"]:
        assert set(each) == {"path", "sha256", "claim", "command"}
        assert hashlib.sha256((job.run_folder / each["path"]).read_bytes()).hexdigest() == each["sha256"]
    comment = visible_part((job.run_folder / "comment.md").read_text())
    assert done.stdout.startswith(comment[2:70].replace("`", ""))
    assert str(job.run_folder) in done.stdout
    assert measure_comment(comment).words <= 250
    for words in ("kernel_state[-1].zero_()", "of row -1 of 'conv_state'", "emulated", "reconstructed"):
        assert words in comment
    for name in ("comment.md", "report.html", "junit.xml", "run.json"):
        assert name in done.stdout
        assert (job.run_folder / name).stat().st_size > 0
    base = next(
        each for each in cases(job) if (each["check"], each["model"], each["arm"]) == ("conv-state", "raw", "base")
    )
    assert "causal_conv1d_update" in base["first"]
    assert "batch4" in base["first"]
    assert job.target.snapshot() == before
    assert tree(job.upstream) == upstream
    again = job.run()
    assert again.returncode == 0
    assert [each["stage"] for each in job.story()["stages"] if each["reused"]] == ["pick", "fixup", "validate"]
    assert job.target.snapshot() == before


def cases(job: Job) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((job.run_folder / "validate" / "validate.json").read_text())["cases"]
    return found


def prepared(job: Job) -> Job:
    new = ["run", str(job.kit), "--out", str(job.run_folder), "--only", "pick", *job.options()]
    for done in (backproof(*new, cwd=job.folder), job.stage("fixup"), job.stage("install")):
        assert done.returncode == 0, done.stdout + done.stderr
    return job


def test_stages_alone_hold_the_overlay_until_it_is_undone(job: Job) -> None:
    before = job.target.snapshot()
    prepared(job)
    assert "REQUESTS))" in (job.target.site / KERNEL).read_text()
    assert "zero_()" in (job.target.site / WRAPPER).read_text()
    for name in ("verify", "validate", "report"):
        done = job.stage(name)
        assert done.returncode == 0, done.stdout + done.stderr
    assert (job.story()["outcome"], job.story()["level"]) == ("pass", 2)
    assert "zero_()" in (job.target.site / WRAPPER).read_text()
    assert job.undo().returncode == 0
    assert job.target.snapshot() == before
    after = job.stage("verify")
    assert after.returncode == 2, after.stdout + after.stderr
    assert "--only install" in after.stderr
    assert (job.story()["outcome"], job.story()["level"]) == ("pass", 2)


def test_a_fix_line_that_was_reverted_by_hand_fails_verify(job: Job) -> None:
    prepared(job)
    path = job.target.site / KERNEL
    path.write_text(path.read_text().replace("active, request, REQUESTS)", "active, request, -1)"))
    done = job.stage("verify")
    assert done.returncode == 1, done.stdout + done.stderr
    assert KERNEL in done.stdout
    assert job.stage_of("verify")["outcome"] == "fail"
    undone = job.undo()
    assert undone.returncode == 3
    assert KERNEL in undone.stderr
    assert job.undo("--force").returncode == 0


def test_a_shadow_copy_first_on_pythonpath_fails_verify_and_is_named(job: Job) -> None:
    before = job.target.snapshot()
    shadow = job.folder / "shadow"
    (shadow / KERNEL).parent.mkdir(parents=True)
    shutil.copy(job.target.site / KERNEL, shadow / KERNEL)
    for folder in [(shadow / KERNEL).parent, *list((shadow / KERNEL).parents)[1:4]]:
        (folder / "__init__.py").touch()
    done = job.run(PYTHONPATH=str(shadow))
    assert done.returncode == 1, done.stderr
    assert str(shadow) in (job.run_folder / "comment.md").read_text(encoding="utf-8")
    assert job.story()["outcome"] == "fail"
    assert job.stage_of("verify")["outcome"] == "fail"
    assert job.target.snapshot() == before


def test_a_check_that_passes_on_base_is_not_a_pass(job: Job) -> None:
    plan = job.kit / "plan.toml"
    (job.kit / "checks" / "test_conv_state.py").write_text(
        "from vllm_ascend.models.glm5next.ops import causal_conv1d\n\n\ndef test_decode_batch4_eager(device):\n    assert causal_conv1d\n"
    )
    plan.write_text(
        plan.read_text()
        .replace('base = "fault:mte-out-of-range"', 'base = "pass"')
        .replace('reach = ["conv-state"]', "reach = []")
    )
    done = job.run()
    assert done.returncode == 4, done.stdout + done.stderr
    assert job.story()["outcome"] == "inconclusive"
    assert [each["verdict"] for each in cases(job)] == ["not-discriminating", "as-expected", "as-expected"]
    assert "not a pass" in done.stdout.lower() or "INCONCLUSIVE" in done.stdout


def test_a_fix_that_does_not_work_is_not_proved_and_never_an_error(job: Job, tmp_path: Path) -> None:
    """The index one too large: the mutant lands, loads, and is caught by the check."""
    mutated = tmp_path / "mutated"
    subprocess.run(["git", "clone", "--quiet", str(job.upstream), str(mutated)], check=True, capture_output=True)
    git = ["git", "-C", str(mutated), "-c", "user.name=m", "-c", "user.email=m@example.org"]
    subprocess.run([*git, "fetch", "--quiet", str(job.upstream), "refs/pull/19353/head"], check=True)
    first = subprocess.run(
        [*git, "rev-parse", "FETCH_HEAD~2"], check=True, capture_output=True, text=True
    ).stdout.strip()
    subprocess.run([*git, "checkout", "--quiet", "--detach", first], check=True)
    path = mutated / KERNEL
    path.write_text(path.read_text().replace("active, request, REQUESTS)", "active, request, REQUESTS + 1)"))
    subprocess.run([*git, "commit", "--quiet", "--amend", "--all", "--no-edit"], check=True)
    subprocess.run([*git, "update-ref", "refs/pull/19353/head", "HEAD"], check=True)
    subprocess.run([*git, "branch", "releases/v0.30.0", "origin/releases/v0.30.0"], check=False, capture_output=True)
    before = job.target.snapshot()
    done = Job(folder=job.folder, kit=job.kit, upstream=mutated, target=job.target).run()
    # Red on base and red with it: not proved. Only a test that was green on base could refute it.
    assert done.returncode == 4, done.stdout + done.stderr
    assert job.story()["outcome"] == "inconclusive"
    assert {each["arm"]: each["verdict"] for each in cases(job)}["fixed"] == "unexpected"
    assert job.target.snapshot() == before


@pytest.mark.parametrize("stage", ["pick", "fixup", "install", "verify", "validate"])
def test_killed_at_any_stage_the_next_command_puts_everything_back(job: Job, stage: str) -> None:
    before, upstream = job.target.snapshot(), tree(job.upstream)
    command = [
        str(Path(sys.executable).with_name("backproof")),
        "run",
        str(job.kit),
        "--out",
        str(job.run_folder),
        *job.options(),
    ]
    with subprocess.Popen(
        command, cwd=job.folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stderr is not None
        wait_for(process, f"==> {stage}", "arm pick" if stage == "validate" else "")
        time.sleep(0.15)
        os.kill(process.pid, signal.SIGKILL)
        process.stderr.read()
    done = backproof("run", str(job.run_folder), "--only", "report", cwd=job.folder)
    assert done.returncode in {0, 4}, done.stderr
    assert job.target.snapshot() == before
    assert tree(job.upstream) == upstream
    finished = backproof("run", str(job.run_folder), cwd=job.folder)
    assert finished.returncode == 0, finished.stderr
    assert job.story()["outcome"] == "pass"
    assert job.target.snapshot() == before


def wait_for(process: subprocess.Popen[str], *wanted: str) -> None:
    left = [each for each in wanted if each]
    assert process.stderr is not None
    for line in process.stderr:
        if left and left[0] in line:
            left.pop(0)
        if not left:
            return
    pytest.fail(f"the run ended before {left}")
