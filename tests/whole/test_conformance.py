"""What every stage and every device must be, whichever are registered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import DeviceError, ExitCode, PlanError
from backproof.core.model import Level, Outcome, worst
from backproof.devices import DEVICES, get
from backproof.stages import STAGES

if TYPE_CHECKING:
    from backproof.devices.protocol import Device
    from backproof.rundir.context import Stage


@pytest.mark.parametrize("stage", STAGES, ids=lambda each: each.NAME)
def test_a_stage_says_what_it_is(stage: Stage) -> None:
    names = [each.NAME for each in STAGES]
    assert names.count(stage.NAME) == 1
    assert set(stage.NEEDS) <= set(names[: names.index(stage.NAME)])
    assert isinstance(stage.REUSABLE, bool)
    assert callable(stage.inputs)
    assert callable(stage.run)


def test_report_comes_last_and_needs_nothing() -> None:
    assert STAGES[-1].NAME == "report"
    assert STAGES[-1].NEEDS == ()


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_says_what_it_is(name: str) -> None:
    device: Device = get(name)
    assert name == device.NAME
    assert device.PARALLEL >= 1
    assert device.LEVEL in {Level.EMULATED, Level.DEVICE}


def test_a_device_that_is_not_there_is_an_error_and_never_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DeviceError) as caught:
        get("ascend").describe(Path("python"))
    assert caught.value.exit_code is ExitCode.ERROR


def test_an_unknown_device_gets_a_did_you_mean() -> None:
    with pytest.raises(PlanError) as caught:
        get("ascent")
    assert "did you mean 'ascend'" in caught.value.why


def test_every_outcome_has_its_exit_code_and_nothing_at_all_is_an_error() -> None:
    codes = {each: each.exit_code for each in Outcome}
    assert {each for each, code in codes.items() if code is ExitCode.PASS} == {Outcome.PASS, Outcome.SKIP}
    assert codes[Outcome.FAIL] == 1
    assert codes[Outcome.ERROR] == 4
    assert worst([]) is Outcome.ERROR
    assert worst([Outcome.PASS, Outcome.ERROR]) is Outcome.ERROR
    assert worst([Outcome.ERROR, Outcome.FAIL, Outcome.PASS]) is Outcome.FAIL
