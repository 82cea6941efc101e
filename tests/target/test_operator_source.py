"""An operator's own source on the model of the device: what CI runs of it are kernels of our own."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from target_process import Answer, Target

pytestmark = [
    pytest.mark.target,
    pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler"),
]
KERNELS = Path(__file__).resolve().parent / "kernels"


def test_kernels_of_our_own(synthetic: Target) -> None:
    answer = replace(synthetic, path=(KERNELS,)).run(
        KERNELS / "scenes.py", device="cpu", session="plain", operators=None
    )
    tests = answer.result["tests"]
    wrong = [(test["nodeid"].split("::")[1], test["message"]) for test in tests if test["outcome"] != "passed"]
    assert wrong == []
    assert len(tests) > 30


def run_emulated(synthetic: Target, **more: str) -> Answer:
    operators = {"file": str(KERNELS / "operators.py"), "model": "source", "options": {}, **more}
    return synthetic.run(KERNELS / "emulated.py", operators=operators)


def test_what_a_kernel_does_wrong_is_a_fault_of_its_launch(synthetic: Target, tmp_path: Path) -> None:
    answer = run_emulated(synthetic, source=str(KERNELS), cache=str(tmp_path))
    shown = {
        test["nodeid"].split("::")[1]: (test["outcome"], [fault["kind"] for fault in test["faults"]])
        for test in answer.result["tests"]
    }
    assert shown == {
        "test_result": ("passed", []),
        "test_replay": ("passed", []),
        "test_out_of_range": ("failed", ["mte-out-of-range"]),
        "test_unwritten": ("failed", ["silent"]),
        "test_race": ("failed", ["race"]),
        "test_host_refuses": ("failed", []),
        "test_crash": ("failed", []),
    }, answer.result
    (fault,) = answer.test("test_out_of_range")["faults"]
    assert (fault["name"], fault["argument"], fault["index"], fault["offset"]) == ("rules", "x", -1, -32)
    assert "DataCopy at rules.cpp:" in fault["text"]
    assert any(
        "backproof_target.faults.Unmodelled" in raised["classes"] for raised in answer.test("test_crash")["raised"]
    )
    (said,) = [text for text in answer.result["limits"] if "not the binary" in text]
    assert "sha256" in said
    assert str(KERNELS) not in said


def test_without_a_source_nothing_can_be_told(synthetic: Target) -> None:
    answer = run_emulated(synthetic)
    raised = answer.test("test_result")["raised"][0]
    assert "backproof_target.faults.Unmodelled" in raised["classes"]
    assert "name it with --operator-source" in answer.test("test_result")["message"]
