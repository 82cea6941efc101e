"""Devices of this module alone: registered in DEVICES, they take a kit from `plan check` to `merge`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.app.demo import choose_device
from backproof.cli import cli
from backproof.core.errors import PlanError
from backproof.core.level import Level
from backproof.devices import DEVICES
from backproof.devices.protocol import DeviceTraits, DeviceWords, ProcessSetup
from backproof.kit.loader import load_plan
from backproof.records.proof import DeviceInventory
from click.testing import CliRunner, Result
from plain_job import PlainJob, make_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.core.model import Arm, Record
    from backproof.devices.protocol import Session
    from backproof.kit.plan import Plan

HOST = {"host": "stand-in-host", "boot_id": "stand-in-boot"}
CHECK = """
import os


def test_answers(device):
    from demo.ops import conv

    device.observe(answer=conv.answer())
    # The stage verify counts lines outside of the time that the run has the device.
    assert device.kind in os.environ.get("DEVICE_OF_THE_TEST", device.kind)
    assert conv.answer() == 42
"""


@dataclass(frozen=True, kw_only=True)
class StandIn:
    """A device that answers in the plain interpreter; a test says what it is called and what it claims."""

    NAME: str
    LEVEL: Level
    WORDS: DeviceWords
    LIMITS: tuple[str, ...]
    TRAITS: DeviceTraits
    inventory: DeviceInventory | None = None
    spoiled: str = ""

    def describe(self, python: Path) -> dict[str, str]:
        del python
        return {"device": self.NAME, **HOST}

    def models(self, plan: Plan) -> tuple[str, ...]:
        del plan
        return (self.NAME,)

    def request(self, kit: Path, plan: Plan, model: str) -> None:
        del kit, plan, model

    @contextmanager
    def open_session(self, python: Path, folder: Path, env: Mapping[str, str]) -> Iterator[Session]:
        del python, folder, env
        yield StandInSession(device=self)


@dataclass(frozen=True, kw_only=True)
class StandInSession:
    """The session of such a device."""

    device: StandIn
    details: Record | None = None
    command: str = "read-the-stand-in"

    @property
    def inventory(self) -> DeviceInventory | None:
        return self.device.inventory

    def prepare_process(self, arm: Arm, name: str) -> ProcessSetup:
        return ProcessSetup(env={"DEVICE_OF_THE_TEST": f"{self.device.NAME} for {name} on {arm}"})

    def spoiled(self) -> str:
        return self.device.spoiled


LOOPBACK = StandIn(
    NAME="loopback",
    LEVEL=Level.EMULATED,
    WORDS=DeviceWords(
        level={"en": "checked over a loopback", "zh": "已在回环上检查"},
        where="over a loopback with nothing behind it",
        expected_in="[check.expect.loopback]",
    ),
    LIMITS=("A loopback shows nothing of a wire.",),
    TRAITS=DeviceTraits(hosted_runner=("ubuntu-24.04",)),
)
ACCELERATOR = StandIn(
    NAME="accelerator",
    LEVEL=Level.DEVICE,
    WORDS=DeviceWords(
        level={"en": "checked on an accelerator", "zh": "已在加速器上检查"},
        where="on something called an accelerator",
        expected_in="[check.expect.accelerator]",
    ),
    LIMITS=("An accelerator reports a fault late.",),
    TRAITS=DeviceTraits(),
    inventory=DeviceInventory.model_validate(
        {"device": "accelerator", **HOST, "driver": "driver 1.2", "runtime": "runtime 3.4"}
    ),
)


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A kit for a device, and the commands on it, in this process: a new one would not know the device."""

    job: PlainJob

    def call(self, *args: str | Path) -> Result:
        env = {**self.job.environment(), "GITHUB_ACTIONS": ""}
        return CliRunner(env=env).invoke(cli, [str(arg) for arg in args], catch_exceptions=False)

    def run(self, device: StandIn) -> Result:
        where = ("--repo", self.job.upstream.folder, "--python", self.job.target.python, "--device", device.NAME)
        return self.call("run", self.job.kit, "--out", self.job.run_folder, *where)

    def read(self, name: str) -> str:
        return (self.job.run_folder / name).read_text(encoding="utf-8")


def make_proof(folder: Path, device: StandIn) -> Proof:
    job = make_job(folder)
    plan = job.kit / "plan.toml"
    text = plan.read_text(encoding="utf-8").replace("[check.expect.cpu]", device.WORDS.expected_in)
    plan.write_text(text, encoding="utf-8")
    (job.kit / "checks" / "test_answers.py").write_text(CHECK, encoding="utf-8")
    return Proof(job=job)


@pytest.fixture(scope="module")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proof]:
    """A run on the device without hardware."""
    proof = make_proof(tmp_path_factory.mktemp("loopback") / "job", LOOPBACK)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(DEVICES, LOOPBACK.NAME, LOOPBACK)
        done = proof.run(LOOPBACK)
        assert done.exit_code == 0, done.output
        yield proof


def test_a_kit_for_a_device_that_is_not_registered_is_invalid(tmp_path: Path) -> None:
    proof = make_proof(tmp_path / "job", LOOPBACK)
    with pytest.raises(PlanError, match="no operator model or device 'loopback'"):
        load_plan(proof.job.kit, {name: device for name, device in DEVICES.items() if name != LOOPBACK.NAME})


def test_plan_check_takes_its_expectations(loopback: Proof) -> None:
    done = loopback.call("plan", "check", loopback.job.kit)
    assert (done.exit_code, "plan plain is valid" in done.output) == (0, True), done.output


def test_its_checks_run_and_the_verdict_has_its_words(loopback: Proof) -> None:
    story = loopback.job.story()
    assert (story["outcome"], story["level"]) == ("pass", 2)
    assert story["sentence"] == (
        "PASS at level 2 (checked over a loopback): 1 proof on release red without the backport and green with it, over "
        "a loopback with nothing behind it; not run on a device."
    )
    cases = json.loads(loopback.read("validate/validate.json"))["cases"]
    observed = {case["arm"]: (case["model"], case["observed"]) for case in cases}
    assert observed == {"base": ("loopback", "fail"), "pick": ("loopback", "pass"), "fixed": ("loopback", "pass")}


def test_the_comment_has_its_words_and_limits(loopback: Proof) -> None:
    text = loopback.read("comment.md")
    assert "Level 2 of 4, checked over a loopback: not shown on a device." in text
    assert "emulated" not in text
    assert "- A loopback shows nothing of a wire." in text
    assert "--device loopback" in text


def test_the_comment_in_chinese_has_its_words(loopback: Proof) -> None:
    done = loopback.call("ci", "present", loopback.job.run_folder, "--lang", "zh")
    assert "等级 2（最高 4），已在回环上检查" in done.output


def test_the_page_has_its_words_and_limits(loopback: Proof) -> None:
    text = loopback.read("report.html")
    assert "Checks on <code>loopback</code>" in text
    assert "checked over a loopback" in text
    assert "A loopback shows nothing of a wire." in text


def test_the_matrix_has_a_cell_for_it_on_its_own_runner(loopback: Proof) -> None:
    done = loopback.call(
        "ci", "matrix", loopback.job.kit, "--repo", loopback.job.upstream.folder, "--labels", "self-hosted"
    )
    cells = [(cell["device"], cell["labels"]) for cell in json.loads(done.stdout)["include"]]
    assert cells == [("loopback", ["ubuntu-24.04"])]


def test_merge_joins_its_run(loopback: Proof) -> None:
    folder = loopback.job.folder
    matrix = loopback.call("ci", "matrix", loopback.job.kit, "--repo", loopback.job.upstream.folder)
    (folder / "matrix.json").write_text(matrix.stdout, encoding="utf-8")
    merging = ("--kit", loopback.job.kit, "--out", folder / "merged", "--expect", folder / "matrix.json")
    done = loopback.call("ci", "merge", loopback.job.run_folder, *merging)
    assert done.exit_code == 0, done.output
    (row,) = [line for line in done.output.splitlines() if "| loopback |" in line]
    assert "PASS at level 2 (checked over a loopback)" in row


def test_the_demo_chooses_it(loopback: Proof) -> None:
    assert choose_device(load_plan(loopback.job.kit, DEVICES), loopback.job.kit) == LOOPBACK.NAME


@pytest.mark.parametrize(
    ("changes", "verdict", "sentence"),
    [
        ({}, ("pass", 3), "PASS at level 3 (checked on an accelerator): 1 proof on release"),
        ({"inventory": None}, ("pass", 1), "on something called an accelerator; nothing shows which device that was"),
        ({"spoiled": "the accelerator went bad"}, ("error", 1), "ERROR: no verdict"),
    ],
    ids=["shown", "without an inventory", "gone bad"],
)
def test_a_device_with_hardware_counts_as_far_as_it_is_shown(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    verdict: tuple[str, int],
    sentence: str,
) -> None:
    device = replace(ACCELERATOR, **changes)
    monkeypatch.setitem(DEVICES, device.NAME, device)
    proof = make_proof(tmp_path / "job", device)
    proof.run(device)
    story = proof.job.story()
    assert (story["outcome"], story["level"]) == verdict
    assert sentence in story["sentence"]
    assert ("Verified on device `accelerator`" in proof.read("comment.md")) == (verdict == ("pass", 3))
    assert "An accelerator reports a fault late." in proof.read("comment.md")
    commands = {evidence["command"] for evidence in story["stages"][4]["evidence"]}
    assert ("read-the-stand-in" in commands) == (device.inventory is not None)
