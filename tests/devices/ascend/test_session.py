"""The chips of a run: locked, well, free, looked at again; and what a stand-in may never become."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import BusyError, HostError
from backproof.core.model import Arm
from backproof.devices import DEVICES
from backproof.devices.ascend import health, inventory, lock, session, table
from backproof.devices.ascend.npu_host import find_nodes
from backproof.host.software import read_software

if TYPE_CHECKING:
    from npu_host import FakeHost

PYTHON = Path(sys.executable)


def test_two_runs_never_have_one_chip(tmp_path: Path) -> None:
    with (
        lock.hold_chips([3, 1], folder=tmp_path),
        pytest.raises(BusyError, match="chip 3 is held") as caught,
        lock.hold_chips([2, 3], folder=tmp_path),
    ):
        pass
    assert f"pid {os.getpid()}" in caught.value.why
    with lock.hold_chips([2, 3], folder=tmp_path), lock.hold_chips([0, 1], folder=tmp_path):
        pass


def test_a_killed_run_lets_go_of_its_chips(tmp_path: Path) -> None:
    text = (
        "import pathlib, sys, time\nfrom backproof.devices.ascend import lock\n"
        "with lock.hold_chips([0], folder=pathlib.Path(sys.argv[1])):\n    print('held', flush=True)\n    time.sleep(60)\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", text, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError), lock.hold_chips([0], folder=tmp_path):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait(10)
        with lock.hold_chips([0], folder=tmp_path):
            pass


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ({"health": {"3.1": "Alarm"}}, "1 of 16 chips are not well"),
        ({"holders": [[5, 0, 4711]]}, "the chips are in use"),
        ({"cards": 0}, "npu-smi names no chip"),
    ],
)
def test_a_run_does_not_start_on_chips_that_are_not_well_or_not_free(
    fake_host: FakeHost, tmp_path: Path, facts: dict[str, object], what: str
) -> None:
    fake_host.set(**facts)
    with pytest.raises(HostError, match=what), session.open_session(PYTHON, tmp_path, {}):
        pass


def test_a_warning_that_was_there_before_is_no_reason(fake_host: FakeHost, tmp_path: Path) -> None:
    fake_host.set(health={"2.0": "Warning"})
    with session.open_session(PYTHON, tmp_path, {}) as opened:
        assert opened.spoiled() == ""
        fake_host.set(health={"2.0": "Alarm"})
        assert "NPU 2 chip 0: health is Alarm" in opened.spoiled()


def test_a_bad_card_outside_the_visible_ones_does_not_matter(fake_host: FakeHost, tmp_path: Path) -> None:
    fake_host.set(health={"3.1": "Alarm"}, holders=[[5, 0, 4711]])
    with session.open_session(PYTHON, tmp_path, {"ASCEND_RT_VISIBLE_DEVICES": "0,1,2"}) as opened:
        assert [chip.device for chip in opened.chips] == [0, 1, 2]
        assert opened.spoiled() == ""


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, ""),
        ({"health": {"2.0": "Warning"}}, "a card went bad during the run: NPU 2 chip 0: health is Warning"),
        ({"gone": ["7.1"]}, "a card went bad during the run: NPU 7 chip 1 is gone"),
        ({"cards": 0}, "the host went bad during the run: npu-smi names no chip"),
    ],
)
def test_a_card_that_goes_bad_spoils_what_was_seen(
    fake_host: FakeHost, tmp_path: Path, facts: dict[str, object], message: str
) -> None:
    with session.open_session(PYTHON, tmp_path, {}) as opened:
        fake_host.set(**facts)
        spoiled = opened.spoiled()
    assert spoiled.startswith(message)
    assert bool(spoiled) == bool(message)


def test_each_process_gets_a_log_folder_of_its_own(fake_host: FakeHost, tmp_path: Path) -> None:
    with session.open_session(PYTHON, tmp_path, {}) as opened:
        folders = [opened.prepare_process(Arm.BASE, "c").env["ASCEND_PROCESS_LOG_PATH"] for _ in range(2)]
        folders.append(opened.prepare_process(Arm.FIXED, "c").env["ASCEND_PROCESS_LOG_PATH"])
    assert len(set(folders)) == 3
    assert all(Path(folder).is_dir() and not list(Path(folder).iterdir()) for folder in folders)
    assert Path(folders[0]).is_relative_to(tmp_path / "base")


def test_the_inventory_says_what_it_could_not_read(fake_host: FakeHost) -> None:
    hardware = inventory.read_hardware(PYTHON)
    assert hardware.runtime.value is None
    assert any(reason.startswith("CANN: ") for reason in hardware.unread)
    assert any("fla_npu: the distribution fla-npu is not installed" in reason for reason in hardware.unread)
    assert hardware.driver.source == "npu-smi info"
    assert hardware.place.boot_id


def test_the_target_interpreter_tells_versions_and_hashes_and_is_not_imported(tmp_path: Path) -> None:
    package = tmp_path / "fla_npu"
    (package / "lib").mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('imported')\n", encoding="utf-8")
    (package / "lib" / "ops.so").write_bytes(b"\x7fELF one")
    (tmp_path / "fla_npu-1.4.dist-info").mkdir()
    (tmp_path / "fla_npu-1.4.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fla-npu\nVersion: 1.4\n")
    first = read_software(PYTHON, {"PYTHONPATH": str(tmp_path)}).packages["fla_npu"]
    assert (first.version, first.libraries, first.why) == ("1.4", 1, "")
    (package / "lib" / "ops.so").write_bytes(b"\x7fELF two")
    second = read_software(PYTHON, {"PYTHONPATH": str(tmp_path)}).packages["fla_npu"]
    assert second.sha256 == first.sha256
    assert second.libraries_sha256 != first.libraries_sha256


def test_an_interpreter_that_cannot_answer_is_a_reason() -> None:
    assert "127" in read_software(Path("/nonexistent/python")).why


def test_a_stand_in_says_so_and_one_that_does_not_is_caught_by_the_missing_device_nodes(fake_host: FakeHost) -> None:
    marked = inventory.read_hardware(PYTHON)
    assert marked.stand_in
    assert inventory.build_inventory(marked).stand_in
    assert "says itself" in inventory.describe_hardware(marked)["stand-in"]
    fake_host.set(mark=False)
    forged = inventory.read_hardware(PYTHON)
    assert not forged.table.stand_in
    assert forged.stand_in
    assert "no device node" in forged.stand_in_why


def test_files_that_are_no_devices_are_no_device_nodes(tmp_path: Path) -> None:
    (tmp_path / "davinci0").write_text("")
    (tmp_path / "davinci1").symlink_to("/dev/null")
    (tmp_path / "davinci_manager").symlink_to("/dev/null")
    assert find_nodes(tmp_path) == ("davinci1",)


def test_facts_that_change_while_a_host_runs_are_not_in_the_digest(fake_host: FakeHost) -> None:
    device = DEVICES["ascend"]
    before = device.describe(PYTHON)
    fake_host.set(holders=[[0, 0, 1]])
    assert device.describe(PYTHON) == before
    assert {"host", "boot_id"} <= before.keys()


def test_chips_are_chosen_by_their_number() -> None:
    chips = [
        table.Chip(npu=n, chip=c, physical=2 * n + c, name="Ascend910", health="OK") for n in (1, 0) for c in (0, 1)
    ]
    assert [chip.device for chip in health.select_chips(chips, "3, 0")] == [0, 3]
    assert len(health.select_chips(chips, None)) == 4
