"""What hardware may be claimed: the real verdict code over run folders of a stand-in, and of a device for contrast."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.model import Arm, Outcome
from backproof.devices.ascend import inventory, session
from backproof.records.proof import DeviceInventory
from backproof.records.serving import ServeRecord
from backproof.report import render
from backproof.serving import arms
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict
from services import MTE, of, serve
from stories import Folder, level_2_cases, plan, proved, three

if TYPE_CHECKING:
    from backproof.records.serving import Round
    from npu_host import FakeHost

FAULT = "fault:out-of-range"
REAL = DeviceInventory(device="ascend", host="h", boot_id="b", driver="26.0.rc1", runtime="CANN 9.2.0")


def on_device(path: Path, record: DeviceInventory) -> Folder:
    """A run whose checks ran on the device ascend and showed all that a level 3 needs."""
    folder = Folder(path, device="ascend")
    folder.pick()
    folder.fixup()
    folder.install()
    folder.verify()
    facts = {"host": record.host, "boot_id": record.boot_id}
    folder.validate(three("ascend", FAULT, "pass", "pass"), facts=facts)
    kept = folder.ledger.register_evidence(
        folder.ledger.write_record("validate/inventory.json", record), claim="the device", command="npu-smi info"
    )
    last = folder.stages[-1]
    folder.stages[-1] = last.model_copy(update={"evidence": (*last.evidence, kept)})
    return folder


def served(folder: Folder, record: DeviceInventory | None, rounds: list[Round], **facts: Any) -> None:
    """The stage serve as it would be after these rounds."""
    proof = folder.proof("serve/load/round.json", "{}", "a round")
    plan = serve(concurrency=(1, 2, 8))
    cases = arms.judge_arms(plan, rounds, {(arm, 1): (proof,) for arm in Arm})
    whole = ServeRecord(inventory=record, rounds=tuple(rounds), cases=cases)
    folder.stage("serve", evidence=(folder.record("serve", whole), proof), **facts)


def served_run(path: Path) -> Folder:
    """A run of level 4."""
    folder = on_device(path, REAL)
    served(folder, REAL, rounds(REAL))
    return folder


def level(folder: Folder) -> int | None:
    return run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY).level


def rounds(record: DeviceInventory, **fixed: Any) -> list[Round]:
    here: dict[str, Any] = {"host": record.host, "boot": record.boot_id}
    return [of(Arm.BASE, MTE, **here), of(Arm.FIXED, "pass", **{**here, **fixed})]


@pytest.mark.parametrize("mark", [True, False], ids=["marked", "unmarked"])
def test_a_stand_in_never_exceeds_level_2_whatever_it_shows(fake_host: FakeHost, tmp_path: Path, mark: bool) -> None:
    fake_host.set(mark=mark)
    with session.open_session(Path(sys.executable), tmp_path / "logs", {}) as opened:
        # Even with a driver and a runtime that could be read.
        record = opened.inventory.model_copy(update={"driver": "26.0.rc1", "runtime": "CANN 9.2.0"})
    folder = on_device(tmp_path / "run", record)
    served(folder, record, rounds(record))
    run = run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY)
    assert run.level is not None
    assert run.level <= 2
    assert "device itself" not in run.sentence
    # The same folder with the one word changed: it is the mark that keeps it down, and this test can fail.
    real = record.model_copy(update={"stand_in": False})
    other = on_device(tmp_path / "other", real)
    served(other, real, rounds(real))
    assert level(other) == 4


def test_checks_and_rounds_on_one_device_are_level_4(tmp_path: Path) -> None:
    folder = on_device(tmp_path, REAL)
    assert level(folder) == 3
    served(folder, REAL, rounds(REAL))
    run = run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY)
    assert (run.outcome, run.level) == (Outcome.PASS, 4)
    assert "under load" in run.sentence


def test_rounds_lift_no_emulator(tmp_path: Path) -> None:
    folder = proved(tmp_path, level_2_cases())
    served(folder, REAL, rounds(REAL))
    assert level(folder) == 2


@pytest.mark.parametrize(
    "change",
    [
        {"record": None},
        {"record": REAL.model_copy(update={"boot_id": "after the reboot"})},
        {"record": REAL.model_copy(update={"stand_in": True})},
        {"fixed": {"origin": "url"}},
        {"fixed": {"spoiled": "a card went bad"}},
        {"fixed": {"observed": "error"}},
        {"rounds": []},
        {"outcome": Outcome.ERROR},
    ],
    ids=str,
)
def test_what_keeps_a_served_run_at_level_3_or_below(tmp_path: Path, change: dict[str, Any]) -> None:
    folder = on_device(tmp_path, REAL)
    found = rounds(REAL)
    if "fixed" in change:
        found[1] = found[1].model_copy(update=change["fixed"])
    facts = {"outcome": change["outcome"]} if "outcome" in change else {}
    served(folder, change.get("record", REAL), change.get("rounds", found), **facts)
    assert level(folder) == 3


def test_the_comment_has_words_of_hardware_only_where_there_was_hardware(tmp_path: Path) -> None:
    def written(record: DeviceInventory, folder: Folder) -> str:
        served(folder, record, rounds(record))
        told = run_verdict.read_evidence(folder.ledger, folder.run, REGISTRY)
        told = replace(told, run=run_verdict.judge_run(told))
        page = render.render_page(told, plan())
        text = render.render_comment(told, plan())
        assert ("Served under load" in page) == ("Served under load" in text)
        chinese = render.render_comment(told, plan(), language="zh")
        assert ("带载服务，fixed：pass，撑到并发 8。" in chinese) == ("Served under load" in text)
        return text

    real = written(REAL, on_device(tmp_path / "real", REAL))
    assert "Served under load, base: fault:mte-out-of-range, held up to 2 at once." in real
    assert "Served under load, fixed: pass, held up to 8 at once." in real
    fake = REAL.model_copy(update={"stand_in": True})
    assert "Verified on device" not in written(fake, on_device(tmp_path / "fake", fake))


def test_an_altered_round_is_no_evidence(tmp_path: Path) -> None:
    folder = on_device(tmp_path, REAL)
    served(folder, REAL, rounds(REAL))
    assert level(folder) == 4
    (folder.path / "serve" / "serve.json").write_text("{}")
    run = run_verdict.summarise_run(folder.run, folder.ledger, REGISTRY)
    assert (run.outcome, run.level) == (Outcome.ERROR, 3)


def test_the_inventory_that_validate_keeps_is_the_one_that_the_verdict_reads(fake_host: FakeHost) -> None:
    record = inventory.build_inventory(inventory.read_hardware(Path(sys.executable)))
    facts = inventory.describe_hardware(inventory.read_hardware(Path(sys.executable)))
    assert (record.device, record.host, record.boot_id) == (facts["device"], facts["host"], facts["boot_id"])


def test_a_round_whose_evidence_is_altered_and_a_case_that_is_not_as_expected_lift_nothing(tmp_path: Path) -> None:
    folder = on_device(tmp_path / "altered", REAL)
    served(folder, REAL, rounds(REAL))
    (folder.path / "serve/load/round.json").write_text("altered")
    # The stage's other evidence holds: it is the case that has none.
    kept = tuple(each for each in folder.stages[-1].evidence if each.path != "serve/load/round.json")
    folder.stages[-1] = folder.stages[-1].model_copy(update={"evidence": kept})
    assert level(folder) == 3
    other = on_device(tmp_path / "unexpected", REAL)
    found = rounds(REAL)
    served(other, REAL, [*found, of(Arm.PICK, MTE, host=REAL.host, boot=REAL.boot_id)])
    run = run_verdict.summarise_run(other.run, other.ledger, REGISTRY)
    assert (run.outcome, run.level) == (Outcome.INCONCLUSIVE, 3)
