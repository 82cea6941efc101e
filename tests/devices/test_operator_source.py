"""The user's own copy of an operator's source: what a plan says of it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.app import execution
from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.devices.operator_source import describe_source, hash_source, leave_source_out, list_limits
from backproof.kit.loader import load_plan
from checkout import ROOT
from plain_job import make_job

if TYPE_CHECKING:
    from backproof.kit.plan import Plan


@pytest.fixture(scope="module")
def plan() -> Plan:
    return load_plan(ROOT / "patches" / "19353", DEVICES)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("op_kernel", "op_host"):
        (tmp_path / "source" / name).mkdir(parents=True)
    (tmp_path / "source" / "op_kernel" / "a.cpp").write_text("int a;\n")
    return tmp_path / "source"


def test_the_licence_is_said_before_the_source_is_compiled(plan: Plan, folder: Path) -> None:
    assert "Licence: BSD-3-Clause" in describe_source(plan, str(folder))
    assert "compiled and run on this machine" in describe_source(plan, str(folder))


def test_a_folder_that_is_no_operators_is_refused(plan: Plan, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="not the folder of an operator") as caught:
        describe_source(plan, str(tmp_path))
    assert "no op_kernel and no op_host" in caught.value.why
    assert "flash-linear-attention-npu" in caught.value.next_step


def test_a_kit_that_runs_no_source_is_refused(tmp_path: Path, folder: Path) -> None:
    job = make_job(tmp_path / "job")
    done = job.backproof(*job.arguments(), "--operator-source", str(folder))
    assert (done.returncode, "runs no operator's source" in done.stderr) == (2, True), done.stderr


def test_without_a_source_its_model_is_not_tried_and_that_is_said(plan: Plan) -> None:
    emulator = DEVICES["emulator"]
    assert "source" in emulator.models(plan)
    assert set(emulator.models(plan)) - set(emulator.models(leave_source_out(plan))) == {"source"}
    (said,) = list_limits(plan, "")
    assert said.startswith("Models only: ")
    assert list_limits(plan, "/somewhere") == ()


def test_another_source_is_another_result(folder: Path) -> None:
    """Its hash is among the inputs of the checks; a folder and a file that is no code are not."""
    before = hash_source(str(folder))
    (folder / "notes.md").write_text("words")
    assert hash_source(str(folder)) == before
    (folder / "op_kernel" / "a.cpp").write_text("int b;\n")
    assert hash_source(str(folder)) not in {before, ""}
    assert hash_source("") == ""


def test_a_run_goes_on_with_the_source_that_it_was_begun_with(tmp_path: Path, folder: Path) -> None:
    job = make_job(tmp_path / "job")
    assert job.run().returncode == 0
    with pytest.raises(PlanError, match="--operator-source"):
        execution.must_be_of_its_run(execution.Request(folder=job.run_folder, operator_source=str(folder)))
