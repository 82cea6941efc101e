"""The NPU side of the device interface, over a loopback NPU: its code runs, and it tells the first fault from secondary errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from target_process import Target

pytestmark = pytest.mark.target
LOOPBACK = Path(__file__).resolve().parent / "loopback"


def test_the_interface_is_the_same(synthetic: Target) -> None:
    target = replace(synthetic, path=(LOOPBACK,))
    answer = target.run(LOOPBACK / "scenes.py", device="ascend", session="npu", operators=None)
    outcomes = {each["nodeid"].split("::")[1]: each["outcome"] for each in answer.result["tests"]}
    assert outcomes == {
        "test_strides_are_kept": "passed",
        "test_graph": "passed",
        "test_nan": "passed",
        "test_fault": "failed",
        "test_after_the_fault": "skipped",
    }
    assert [fault["kind"] for fault in answer.test("test_fault")["faults"]] == ["mte-out-of-range"]
    assert "the first fault was: synchronize: MTE error" in answer.test("test_after_the_fault")["message"]
    assert answer.test("test_graph")["observations"] == {"kind": "ascend", "word": "finite", "notes": 0}
    assert answer.result["error"] is None
