"""The one reader of a host: each version is read once, for the doctor and the inventory alike, or has a reason why it was not."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from backproof.devices.ascend.inventory import read_hardware
from backproof.host.versions import find_tool_versions, read_versions

if TYPE_CHECKING:
    from backproof.host.versions import HostVersions
    from backproof.records.host import Reading
    from npu_host import FakeHost


@pytest.fixture(autouse=True)
def _no_toolkit(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)


def host(root: Path) -> Path:
    ascend = root / "usr/local/Ascend"
    (ascend / "driver").mkdir(parents=True)
    (ascend / "driver/version.info").write_text("Version=26.1.1\nascendhal_version=7.35.23\n", encoding="utf-8")
    toolkit = ascend / "ascend-toolkit/latest/aarch64-linux"
    toolkit.mkdir(parents=True)
    (toolkit / "ascend_toolkit_install.info").write_text(
        "package_name=Ascend-cann-toolkit\nversion=9.2.0\narch=aarch64\n", encoding="utf-8"
    )
    return root


def by_name(versions: HostVersions) -> dict[str, Reading]:
    return {reading.name: reading for reading in versions.readings}


def test_versions_of_a_host(tmp_path: Path) -> None:
    readings = by_name(read_versions(Path(sys.executable), root=host(tmp_path)))
    assert (readings["driver"].value, readings["CANN"].value) == ("26.1.1", "9.2.0")
    assert readings["firmware"].value is None
    assert "could not read /usr/local/Ascend/firmware/version.info" in readings["firmware"].why
    assert "not installed" in readings["torch-npu"].why
    assert readings["torch-npu"].source == sys.executable


def test_the_installer_says_where_driver_and_firmware_are(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ascend_install.info").write_text(
        "UserName=HwHiAiUser\nDriver_Install_Path_Param=/opt/npu\nFirmware_Install_Path_Param=/opt/npu/\n"
    )
    for name, version in (("driver", "25.5.2"), ("firmware", "7.8.0.5.216")):
        (tmp_path / "opt/npu" / name).mkdir(parents=True)
        (tmp_path / "opt/npu" / name / "version.info").write_text(f"Version={version}\n")
    readings = by_name(read_versions(None, root=tmp_path, npu_smi=""))
    assert (readings["driver"].value, readings["driver"].source) == ("25.5.2", "/opt/npu/driver/version.info")
    assert readings["firmware"].value == "7.8.0.5.216"


def test_a_host_with_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    readings = read_versions(tmp_path / "python", root=tmp_path).readings
    assert [reading.value for reading in readings] == [None] * 9
    assert all(reading.why for reading in readings)


def test_without_an_interpreter_no_packages_are_read(tmp_path: Path) -> None:
    readings = by_name(read_versions(None, root=host(tmp_path)))
    assert readings["driver"].value == "26.1.1"
    assert readings["vllm"].why == "no target interpreter was given"


def test_a_named_toolkit_wins(tmp_path: Path) -> None:
    host(tmp_path)
    other = tmp_path / "opt/cann"
    other.mkdir(parents=True)
    (other / "version.cfg").write_text("# version: 1.0\nruntime_running_version=[9.9.0:9.9.RC1]\n", encoding="utf-8")
    assert read_versions(None, root=tmp_path, env={"ASCEND_HOME_PATH": "/opt/cann"}).runtime.value == "9.9.RC1"


def test_cann_is_found_where_newer_toolkits_install(tmp_path: Path) -> None:
    ascend = tmp_path / "usr" / "local" / "Ascend"
    for name in ("cann-9.1.0", "cann-9.10.0", "cann-9.2.0"):
        (ascend / name).mkdir(parents=True)
        (ascend / name / "ascend_toolkit_install.info").write_text(f"version={name[5:]}\n", encoding="utf-8")
    assert read_versions(None, root=tmp_path).runtime.value == "9.10.0"


def test_a_target_that_prints_a_banner(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "0123456789abcdef? no, a banner"\nexec {sys.executable} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    assert "not installed" in by_name(read_versions(python, root=tmp_path))["vllm"].why


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("*** STAND-IN npu-smi\n| npu-smi 26.0.rc1        Version: 26.0.rc2 |", ("26.0.rc1", "26.0.rc2")),
        ("| npu-smi 24.1.rc3 |\n| Version: 1 |", ("24.1.rc3", None)),
        ("npu-smi: command not found", (None, None)),
        ("", (None, None)),
    ],
)
def test_the_header_of_npu_smi(text: str, versions: tuple[str | None, str | None]) -> None:
    assert find_tool_versions(text) == versions


def test_a_driver_without_a_file_is_the_one_that_npu_smi_names(fake_host: FakeHost, tmp_path: Path) -> None:
    driver = read_versions(None, root=tmp_path).driver
    assert (driver.value, driver.source) == ("26.0.rc1", "npu-smi info")


def test_the_inventory_reads_each_value_once_and_agrees_with_the_doctor(
    fake_host: FakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """npu-smi and the target's interpreter write down that they were asked."""
    log = tmp_path / "asked"
    asking = tmp_path / "asking"
    asking.mkdir()
    for name, program in (("npu-smi", tmp_path / "bin" / "npu-smi"), ("python", Path(sys.executable))):
        (asking / name).write_text(f'#!/bin/sh\necho {name} >> "{log}"\nexec "{program}" "$@"\n', encoding="utf-8")
        (asking / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{asking}{os.pathsep}{os.environ['PATH']}")
    hardware = read_hardware(asking / "python")
    assert sorted(log.read_text(encoding="utf-8").split()) == ["npu-smi", "python"]
    versions = read_versions(asking / "python")
    assert (hardware.driver, hardware.firmware, hardware.runtime) == versions.readings[:3]
    assert hardware.software == versions.software
