"""The demo runs a kit on a device that its checks say something about, whatever the kit is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kits import write_kit

from pipeline import demo, plan
from pipeline.errors import PlanError

if TYPE_CHECKING:
    from pathlib import Path

EMULATOR = (
    '[emulator]\noperators = "operators.py"\n[[emulator.model]]\nid = "plain"\nmodel = "plain"\nmeaning = "as it is"\n'
)


def _kit(tmp_path: Path, device: str, *, emulator: bool = False) -> Path:
    kit = write_kit(tmp_path / "kit", ["a" * 12])
    text = (kit / "plan.toml").read_text(encoding="utf-8").replace("[check.expect.plain]", f"[check.expect.{device}]")
    (kit / "plan.toml").write_text(text if emulator else text.replace(EMULATOR, ""), encoding="utf-8")
    return kit


def test_a_kit_with_operator_models_runs_on_the_emulator(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "plain", emulator=True)
    assert demo.device_of(plan.load(kit), kit) == "emulator"


def test_a_kit_for_a_plain_cpu_runs_there(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "cpu")
    assert demo.device_of(plan.load(kit), kit) == "cpu"


def test_operators_that_no_check_uses_do_not_choose_the_device(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "cpu", emulator=True)
    assert demo.device_of(plan.load(kit), kit) == "cpu"


def test_a_kit_for_hardware_only_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    kit = _kit(tmp_path, "ascend")
    with pytest.raises(PlanError, match="without hardware"):
        demo.device_of(plan.load(kit), kit)
