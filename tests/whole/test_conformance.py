"""What every stage and every device must be, whichever are registered."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import backproof
import pytest
from backproof.core.errors import DeviceError, ExitCode, PlanError
from backproof.core.level import Level
from backproof.core.model import Outcome, StageRole, worst_outcome
from backproof.devices import DEVICES, get_device
from backproof.stages import PIPELINE, REGISTRY, STAGES
from checkout import ROOT

if TYPE_CHECKING:
    from backproof.devices.protocol import Device
    from backproof.rundir.context import Stage


@pytest.mark.parametrize("stage", STAGES, ids=lambda each: each.NAME)
def test_a_stage_says_what_it_is(stage: Stage) -> None:
    names = [each.NAME for each in STAGES]
    assert names.count(stage.NAME) == 1
    assert {REGISTRY.name_of(kind) for kind in stage.NEEDS} <= set(names[: names.index(stage.NAME)])
    assert stage.RECORD in {other.RECORD for other in STAGES}
    assert [other.RECORD for other in STAGES].count(stage.RECORD) == 1
    assert stage.ROLE in StageRole
    assert isinstance(stage.REUSABLE, bool)
    assert callable(stage.inputs)
    assert callable(stage.run)


def test_the_report_comes_last_in_every_run_and_needs_nothing() -> None:
    assert PIPELINE[-1].ROLE is StageRole.AFTERWARDS
    assert PIPELINE[-1].NEEDS == ()
    order = ["pick", "fixup", "install", "verify", "validate", "triage", "report"]
    assert [stage.NAME for stage in PIPELINE if stage.NAME in order] == order


@pytest.mark.parametrize("name", DEVICES)
def test_a_device_says_what_it_is(name: str) -> None:
    device: Device = get_device(name)
    assert name == device.NAME
    assert device.TRAITS.parallel >= 1
    assert device.LEVEL in {Level.EMULATED, Level.DEVICE}


def test_a_device_that_is_not_there_is_an_error_and_never_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(DeviceError) as caught:
        get_device("ascend").describe(Path("python"))
    assert caught.value.exit_code is ExitCode.ERROR


def test_an_unknown_device_gets_a_did_you_mean() -> None:
    with pytest.raises(PlanError) as caught:
        get_device("ascent")
    assert "did you mean 'ascend'" in caught.value.why


def test_every_outcome_has_its_exit_code_and_nothing_at_all_is_an_error() -> None:
    codes = {each: each.exit_code for each in Outcome}
    assert {each for each, code in codes.items() if code is ExitCode.PASS} == {Outcome.PASS, Outcome.SKIP}
    assert codes[Outcome.FAIL] == 1
    assert codes[Outcome.ERROR] == 4
    assert worst_outcome([]) is Outcome.ERROR
    assert worst_outcome([Outcome.PASS, Outcome.ERROR]) is Outcome.ERROR
    assert worst_outcome([Outcome.ERROR, Outcome.FAIL, Outcome.PASS]) is Outcome.FAIL


PACKAGE = Path(backproof.__file__).parent
# Words that are also something else there: a subcommand of pip, a key of plan.toml, the arm `pick`, a model of rounds, a kind of row.
OTHER_MEANINGS = {
    "recipes/build.py": {"install"},
    "recipes/infer.py": {"install"},
    "app/demo.py": {"install"},
    "core/model.py": {"pick"},
    "install/pip_build.py": {"install"},
    "kit/plan.py": {"fixup", "serve", "experiment"},
    "report/render.py": {"audit"},
    "report/view.py": {"experiment"},
    "serving/arms.py": {"serve"},
    "serving/bench.py": {"serve"},
    "serving/testbed.py": {"serve"},
    "triage/__init__.py": {"triage"},
    "upstream/publish/__init__.py": {"publish"},
    "upstream_tests/worker.py": {"report"},
}


def strings(path: Path) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def test_the_name_of_a_stage_stands_in_its_own_module_only() -> None:
    names = {stage.NAME for stage in STAGES}
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.split("/")[0] in {"cli.py", "commands", "stages", "target"}:
            continue
        assert strings(path) & names <= OTHER_MEANINGS.get(place, set()), place


def test_a_stage_knows_no_other_stage_by_name() -> None:
    for stage in STAGES:
        path = PACKAGE / "stages" / f"{stage.__name__.rpartition('.')[2]}.py"  # type: ignore[attr-defined]
        others = {other.NAME for other in STAGES} - {stage.NAME}
        assert not strings(path) & others - {"pick"}, path


# "cpu" is torch's word for a tensor on the host. `inventory` is a command about NPU hosts, not about a device of a run.
TORCH = {f"target/backproof_target/{name}.py": {"cpu"} for name in ("graph", "tensor_mode")}
OF_ONE_DEVICE = {"commands/hardware.py": {"ascend"}}


def test_a_device_is_named_in_devices_only() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if not place.startswith("devices/"):
            assert strings(path) & set(DEVICES) == TORCH.get(place, set()), place
            assert imports_of_a_device(path) == OF_ONE_DEVICE.get(place, set()), place


def imports_of_a_device(path: Path) -> set[str]:
    imports = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.ImportFrom)]
    modules = {f"{node.module}.{alias.name}." for node in imports for alias in node.names}
    return {name for name in DEVICES for module in modules if module.startswith(f"backproof.devices.{name}.")}


def test_no_template_compares_the_name_of_a_device() -> None:
    for path in sorted((ROOT / "reports").glob("*.j2")):
        text = path.read_text("utf-8")
        assert not [name for name in DEVICES if re.search(rf"[\"']{name}[\"']", text)], path.name


def test_only_the_runner_writes_run_json() -> None:
    writers = [
        path.relative_to(PACKAGE).as_posix()
        for path in sorted(PACKAGE.rglob("*.py"))
        if "ledger.save_run(" in path.read_text("utf-8")
    ]
    assert writers == ["app/runner.py"]
