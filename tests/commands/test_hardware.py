"""The commands on a real run: picked, fixed up, overlaid into a real environment; the host is a stand-in and says so."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof import bundle
from backproof.app import execution
from backproof.commands import hardware
from backproof.core.errors import PlanError
from backproof.core.model import Outcome
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import DeviceInventory, ValidateRecord
from backproof.records.serving import Round, ServeRecord
from backproof.stages import REGISTRY
from backproof.upstream import publish
from backproof.verdict.judge import OUTCOMES
from click.testing import CliRunner, Result
from installed_kit import PATCH, prepare
from services import SERVICE
from target_env import CONV, FILES

if TYPE_CHECKING:
    import click
    from npu_host import FakeHost
    from repositories import Repository

MORE = """
[check.expect.ascend]
base = "fail"
pick = "pass"
fixed = "pass"

[[serve]]
id = "load"
claim = "it answers under load"
command = ["{{python}}", "{service}"]
arguments = ["--crash-at", "4", "--unless", "{conv}:return 42"]
ready = 20
stall = 10
concurrency = [1, 4]
fails_at = 4
requests = 1
max_tokens = 8
prompts = ["one", "two"]
[serve.expect]
base = "fault:mte-out-of-range"
pick = "pass"
fixed = "pass"

[[experiment]]
id = "fix"
question = "Does the backport decide?"
serve = "load"
variable = "arm"
[[experiment.side]]
label = "before"
arm = "base"
[[experiment.side]]
label = "after"
arm = "fixed"

[[experiment]]
id = "two-things"
question = "Two things at once?"
serve = "load"
variable = "--served-model-name"
[[experiment.side]]
label = "one"
[[experiment.side]]
label = "other"
add = ["--served-model-name", "x"]
env = {{ HCCL_BUFFSIZE = "400" }}

[upstream_tests]
select = ["tests/test_conv.py"]
repeats = 1
"""
TESTS = "import demo.ops.conv as conv\ndef test_answer():\n    assert conv.answer() == 42\ndef test_same():\n    pass\n"


class Made:
    """A run folder that has picked, fixed up and verified its install, on a host with the stand-in."""

    def __init__(self, folder: Path, upstream: Repository) -> None:
        prepared = prepare(folder, upstream, change={**PATCH, "tests/test_conv.py": TESTS})
        self.site = prepared.target.site
        self.run = folder / "hardware-run"
        kit = folder / "kit"
        plan = kit / "plan.toml"
        plan.write_text(plan.read_text() + MORE.format(service=SERVICE, conv=self.site / CONV), encoding="utf-8")
        self.request = execution.Request(
            folder=self.run,
            kit=str(kit),
            repo=str(upstream.folder),
            branch="release",
            python=str(prepared.target.python),
            device="ascend",
        )
        execution.run_pipeline(self.request, lambda _: None, last="install")

    def call(self, command: click.Command, *arguments: str) -> Result:
        return CliRunner().invoke(command, ["--run", str(self.run), *arguments])

    @property
    def story(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.run / "run.json").read_text())
        return result


@pytest.fixture
def made(fake_host: FakeHost, tmp_path: Path, upstream: Repository) -> Made:
    return Made(tmp_path, upstream)


def test_serve_check_shows_the_fault_without_the_backport_and_not_with_it(made: Made) -> None:
    result = made.call(hardware.serve_command)
    assert result.exit_code == 0, result.output
    assert "serve: pass: all 2 cases as the plan expects" in result.stdout
    record = ServeRecord.model_validate_json((made.run / "serve" / "serve.json").read_bytes())
    assert [(done.arm, done.observed) for done in record.rounds] == [
        ("base", "fault:mte-out-of-range"),
        ("fixed", "pass"),
    ]
    assert record.inventory is not None
    assert record.inventory.stand_in
    assert (made.site / CONV).read_bytes() == FILES[CONV]
    assert made.story["level"] <= 2
    comment = (made.run / "comment.md").read_text()
    assert "On the hardware" not in comment
    assert "device itself" not in comment
    again = made.call(hardware.serve_command)
    assert "(reused)" in again.stderr


def test_a_killed_serve_check_leaves_nothing_behind_and_goes_on_where_it_was(made: Made) -> None:
    plan = made.run.parent / "kit" / "plan.toml"
    shutil.rmtree(made.run)  # another kit is another run
    slow = plan.read_text().replace('"--crash-at", "4", ', '"--crash-at", "9", "--delay", "0.03", ')
    plan.write_text(slow.replace("concurrency = [1, 4]\nfails_at = 4", "concurrency = [1, 2, 9]"), encoding="utf-8")
    execution.run_pipeline(made.request, lambda _: None, last="install")
    code = "from backproof.commands.hardware import serve_command\nserve_command()"
    ours = subprocess.Popen([sys.executable, "-c", code, "--run", str(made.run)], stderr=subprocess.PIPE, text=True)
    assert ours.stderr is not None
    for line in ours.stderr:
        if "1 at once" in line:
            break
    ours.kill()
    ours.communicate()
    before = Round.model_validate_json((made.run / "serve" / "load" / "base-1" / "round.json").read_bytes())
    assert [step.concurrency for step in before.steps] == [1]
    assert not before.complete
    result = made.call(hardware.serve_command)
    assert result.exit_code == 0, result.output
    record = ServeRecord.model_validate_json((made.run / "serve" / "serve.json").read_bytes())
    base, fixed = record.rounds
    assert base.steps[:1] == before.steps
    assert (base.failed_at, fixed.reached) == (9, 9)
    assert (made.site / CONV).read_bytes() == FILES[CONV]


def test_a_budget_and_steps_of_the_command_line(made: Made) -> None:
    result = made.call(hardware.serve_command, "--steps", "1,2", "--budget", "10m", "--json")
    assert result.exit_code == Outcome.INCONCLUSIVE.exit_code
    story = json.loads(result.stdout)
    stage = next(stage for stage in story["stages"] if stage["stage"] == "serve")
    assert "not discriminating" in stage["sentence"]
    assert "nothing further can make this a pass" in stage["findings"][0]["text"]
    assert made.call(hardware.serve_command, "--steps", "4,2").exit_code == 2
    assert isinstance(made.call(hardware.serve_command, "--budget", "soon").exception, PlanError)


def test_validate_on_a_stand_in_keeps_the_inventory_and_never_passes_for_hardware(made: Made) -> None:
    run = execution.run_pipeline(made.request, lambda _: None, first="install", last="validate")
    outcomes = {stage.stage: f"{stage.outcome}: {stage.sentence}" for stage in run.stages}
    assert outcomes["verify"].startswith("pass"), outcomes
    inventory = DeviceInventory.model_validate_json((made.run / "validate" / "inventory.json").read_bytes())
    assert inventory.stand_in
    assert run.outcome is Outcome.ERROR
    assert run.level is not None
    assert run.level <= 2
    logs = [item.parent.name for item in (made.run / "validate").glob("*/*.logs.1")]
    assert sorted(logs) == ["base", "fixed", "pick"]


def test_a_card_that_goes_bad_while_checks_run_spoils_every_case(made: Made, fake_host: FakeHost) -> None:
    def say(text: str) -> None:
        if "arm fixed" in text:
            fake_host.set(health={"0.0": "Alarm"})

    execution.run_pipeline(made.request, say, first="install", last="validate")
    record = ValidateRecord.model_validate_json((made.run / "validate" / "validate.json").read_bytes())
    assert len(record.cases) == 3
    assert all("NPU 0 chip 0: health is Alarm" in case.sentence for case in record.cases)
    assert {OUTCOMES[case.verdict] for case in record.cases} == {Outcome.ERROR}
    assert "NPU 0 chip 0: health is Alarm" in record.spoiled


def test_an_experiment_of_one_variable_and_one_of_two(made: Made) -> None:
    refused = made.call(hardware.experiment, "two-things", "--dry-run")
    assert isinstance(refused.exception, PlanError)
    assert "differ in 2 variables" in refused.exception.what
    assert "HCCL_BUFFSIZE" in refused.exception.why
    assert made.call(hardware.experiment, "fix", "--dry-run").stdout == "fix: arm: base / fixed\n"
    result = made.call(hardware.experiment, "fix")
    assert result.exit_code == 0, result.output
    assert "switch: the setting decides: after never fails: before failed 4 of 4, after failed 0 of 4" in result.stdout
    assert "no device was there" in result.stdout
    assert made.call(hardware.experiment, "fix", "--budget", "0.001s").exit_code == Outcome.INCONCLUSIVE.exit_code
    assert _kept(made) == {"fix": "undecided"}, "the same experiment again takes the place of the one before"


def _kept(made: Made) -> dict[str, str]:
    record = ExperimentsRecord.model_validate_json((made.run / "experiment" / "experiment.json").read_bytes())
    return {item.id: item.kind for item in record.experiments}


def test_an_experiment_is_evidence_of_the_run_and_on_its_page(made: Made) -> None:
    before = made.story
    result = made.call(hardware.experiment, "fix")
    assert result.exit_code == 0, result.output
    after = made.story
    assert (after["outcome"], after["level"]) == (before["outcome"], before["level"])
    listed = {item["path"] for item in after["evidence"]}
    assert {"experiment/experiment.json", "experiment/fix/experiment.json"} <= listed
    assert any(path.startswith("experiment/fix/before-1/") for path in listed)
    execution.run_alone(execution.Request(folder=made.run), lambda _: None, "report")
    page = (made.run / "report.html").read_text()
    assert "Experiments: one variable at a time" in page
    assert "arm makes no difference" in page
    boot = ExperimentsRecord.model_validate_json((made.run / "experiment/experiment.json").read_bytes())
    assert boot.experiments[0].boot_id not in page
    bundled = bundle.make_bundle(publish.load_publishable(made.run, REGISTRY), made.run.with_name("b.tar.gz"))
    assert bundled.verified.replayed.loaded.experiments[0].kind == "switch"
    assert not bundled.verified.replayed.loaded.altered


def test_the_targets_own_tests(made: Made) -> None:
    result = made.call(hardware.upstream_tests)
    assert result.exit_code == 0, result.output
    assert "2 of the target's own tests are no worse with the backport (1 mended)" in result.stdout
    suites = ET.parse(made.run / "junit.xml").getroot()  # noqa: S314 - our own file
    assert [suite.get("name") for suite in suites][-2:] == [
        "the target's own tests on base",
        "the target's own tests on fixed",
    ]
    assert not list(suites.iter("failure"))
    page = (made.run / "report.html").read_text()
    assert "fails without the backport, passes with it" in page
    again = made.call(hardware.experiment, "fix", "--budget", "0.001s")
    assert again.exit_code == Outcome.INCONCLUSIVE.exit_code
    execution.run_alone(execution.Request(folder=made.run), lambda _: None, "report")
    assert {"upstream-tests", "experiment"} <= {stage["stage"] for stage in made.story["stages"]}


def test_an_address_is_loaded_and_counts_for_nothing(made: Made) -> None:
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.serving import service

    kit = Path(made.request.kit or "")
    (plan,) = load_plan(kit, DEVICES).serve
    command, port = service.build_command(plan, (), {"python": sys.executable})
    folder = made.run / "there"
    with service.start_service(plan, command, port, env={}, folder=made.run, say=lambda _: None) as there:
        arguments = ["--run", str(folder), "--kit", str(kit), "--url", there.url]
        refused = CliRunner().invoke(hardware.serve_command, arguments)
        result = CliRunner().invoke(hardware.serve_command, [*arguments, "--arm", "fixed"])
    assert isinstance(refused.exception, PlanError)
    assert result.exit_code == 0, result.output
    assert "4 at once: 4 ok, 0 failed" in result.stdout
    assert not (folder / "serve" / "serve.json").exists()
    assert not (folder / "run.json").exists()


def test_the_inventory_command_says_what_is_unread(fake_host: FakeHost) -> None:
    fake_host.set(health={"0.1": "Alarm"})
    result = CliRunner().invoke(hardware.inventory, [])
    assert result.exit_code == 0
    assert "NPU 0 chip 1: Ascend910, device 1, health Alarm" in result.stdout
    assert "stand-in: npu-smi says itself that it is a stand-in" in result.stdout
    assert "unread: CANN: " in result.stdout
    whole = json.loads(CliRunner().invoke(hardware.inventory, ["--json"]).stdout)
    assert len(whole["table"]["chips"]) == 16
