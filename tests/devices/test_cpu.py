"""The plain CPU: a real backport of a pure-Python distribution through the whole pipeline, and what it may be called."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from backproof import devices
from backproof.core.level import Level
from backproof.core.model import Arm, Outcome
from backproof.records.proof import DeviceInventory
from backproof.report import render
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from plain_job import PlainJob, make_job
from stories import Folder, case, plan, proved, three


@pytest.fixture
def job(tmp_path: Path) -> PlainJob:
    return make_job(tmp_path / "job")


def cases(job: PlainJob) -> dict[str, dict[str, object]]:
    found = json.loads((job.run_folder / "validate" / "validate.json").read_text(encoding="utf-8"))
    return {each["arm"]: each for each in found["cases"]}


def test_a_pure_python_backport_is_proved_without_a_device(job: PlainJob) -> None:
    before = job.outside()
    done = job.run()
    assert done.returncode == 0, done.stdout + done.stderr
    told = job.story()
    assert (told["outcome"], told["level"]) == ("pass", 2)
    assert told["sentence"] == (
        "PASS at level 2 (checked on a CPU): 1 proof on release red without the backport and green with it, on a plain "
        "CPU, where nothing is emulated; not run on a device."
    )
    found = cases(job)
    assert {arm: each["observed"] for arm, each in found.items()} == {"base": "fail", "pick": "pass", "fixed": "pass"}
    assert found["base"]["observations"] == {"answer": {"min": 41.0, "max": 41.0}}
    assert "without a memory model" in told["limits"][0]
    assert job.outside() == before
    reached = json.loads((job.run_folder / "verify" / "reached.json").read_text(encoding="utf-8"))
    assert "executed" in json.dumps(reached)


def test_the_target_gets_no_torch_and_no_emulator(job: PlainJob) -> None:
    """A fix may depend on what is importable: the check sees the interpreter that the target's users have."""
    (job.kit / "checks" / "test_answers.py").write_text(
        "import os, sys\n\n\ndef test_answers():\n    from demo.ops import conv\n\n"
        "    assert 'TRITON_INTERPRET' not in os.environ\n"
        "    assert not {'torch', 'triton', 'backproof_target.emulator'} & set(sys.modules)\n"
        "    assert conv.answer() == 42\n",
        encoding="utf-8",
    )
    done = job.run()
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_check_that_passes_on_base_proves_nothing_here_either(job: PlainJob) -> None:
    (job.kit / "checks" / "test_answers.py").write_text(
        "def test_answers():\n    from demo.ops import conv\n\n    assert conv.answer()\n", encoding="utf-8"
    )
    assert job.run().returncode == Outcome.INCONCLUSIVE.exit_code
    assert (job.story()["outcome"], cases(job)["base"]["verdict"]) == ("inconclusive", "not-discriminating")


def on_cpu(path: Path) -> Folder:
    folder = Folder(path, device="cpu")
    for stage in (folder.pick, folder.fixup, folder.install, folder.verify):
        stage()
    folder.validate(three("cpu", "fail", "pass", "pass"))
    return folder


def test_no_inventory_lifts_it_above_level_2(tmp_path: Path) -> None:
    """A CPU host can write any inventory: the device's own bound holds."""
    folder = on_cpu(tmp_path)
    facts = {"host": "h", "boot_id": "b", "driver": "d", "runtime": "r"}
    told = run_verdict.read_evidence(folder.ledger, folder.run, REGISTRY)
    assert told.validate is not None
    same = told.validate.model_copy(update={"device_facts": facts})
    assert not run_verdict.inventory_holds(DeviceInventory.model_validate({"device": "cpu", **facts}), same)
    assert run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY).level == Level.EMULATED
    assert devices.get_device("cpu").LEVEL is Level.EMULATED


def test_the_comment_never_calls_it_emulated(tmp_path: Path) -> None:
    told = run_verdict.read_evidence(on_cpu(tmp_path / "cpu").ledger, on_cpu(tmp_path / "cpu").run, REGISTRY)
    told = replace(told, run=run_verdict.judge_run(told))
    text = render.render_comment(told, plan())
    assert "Level 2 of 4, checked on a CPU: not shown on a device." in text
    assert "emulated" not in text
    other = proved(tmp_path / "emulator", [case("raw", Arm.BASE, "fail"), case("raw", Arm.FIXED, "pass")])
    assert "(emulated)" in run_verdict.summarise_run(other.run, other.ledger, REGISTRY).sentence
