"""The doctor reads what a host has, says what it could not read, and calls no deviation a cause."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pipeline import doctor
from pipeline.records_doctor import Reading

ROWS = {
    "newer": ("2.10.0.post7", "2.10.0.post4"),
    "older": ("26.0.RC1", "26.1.1"),
    "same": ("0.30.rc2", "0.30.0rc2"),
    "different": ("main", "1.0"),
}


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


def by_name(readings: tuple[Reading, ...]) -> dict[str, Reading]:
    return {each.name: each for each in readings}


def test_versions_of_a_host(tmp_path: Path) -> None:
    found = by_name(doctor.read(Path(sys.executable), root=host(tmp_path), env={}))
    assert (found["driver"].value, found["CANN"].value) == ("26.1.1", "9.2.0")
    assert found["firmware"].value is None
    assert "could not read /usr/local/Ascend/firmware/version.info" in found["firmware"].why
    assert "not installed" in found["torch_npu"].why


def test_a_host_with_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = doctor.read(tmp_path / "python", root=tmp_path, env={})
    assert [each.value for each in found] == [None] * len(found)
    assert all(each.why for each in found)


def test_a_named_toolkit_wins(tmp_path: Path) -> None:
    host(tmp_path)
    other = tmp_path / "opt/cann"
    other.mkdir(parents=True)
    (other / "version.cfg").write_text("# version: 1.0\nruntime_running_version=[9.9.0:9.9.RC1]\n", encoding="utf-8")
    found = by_name(doctor.read(None, root=tmp_path, env={"ASCEND_HOME_PATH": "/opt/cann"}))
    assert found["CANN"].value == "9.9.RC1"


def test_a_target_that_prints_a_banner(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "backproof-doctor? no, a banner"\nexec {sys.executable} "$@"\n', encoding="utf-8"
    )
    python.chmod(0o755)
    found = by_name(doctor.read(python, root=tmp_path, env={}))
    assert "not installed" in found["vllm"].why


@pytest.mark.parametrize("verdict", ROWS)
def test_verdicts(verdict: str) -> None:
    have, want = ROWS[verdict]
    (row,) = doctor.compare([Reading(name="torch-npu", value=have)], {"torch_npu": want})
    assert row.verdict == verdict


def test_not_read_and_extra() -> None:
    readings = [Reading(name="driver", value=None, why="because"), Reading(name="vllm", value="0.30")]
    rows = doctor.compare(readings, {"driver": "26.0.RC1", "fla_npu": "1.0"})
    assert [(row.name, row.verdict) for row in rows] == [
        ("driver", "not read"),
        ("fla_npu", "not read"),
        ("vllm", "extra"),
    ]
    assert rows[0].note == "because"


def test_arguments() -> None:
    rows = doctor.compare_arguments(
        [
            "--max-num-seqs",
            "32",
            "--speculative-config",
            '{"method": "mtp", "n": 5}',
            "--seed=1024",
            "--extra",
            '{"b":1,"a":2}',
        ],
        ["--max-num-seqs=16", "--no-enable-prefix-caching", "--seed", "1024", "--extra", '{"a": 2, "b": 1}'],
    )
    assert {(row.name, row.verdict) for row in rows} == {
        ("--max-num-seqs", "different"),
        ("--speculative-config", "missing"),
        ("--no-enable-prefix-caching", "extra"),
    }


def test_environment_looks_at_the_baseline_only() -> None:
    rows = doctor.compare_environment({"A": "1", "B": "2"}, {"A": "1", "B": "3", "SECRET_TOKEN": "x"})
    assert [(row.name, row.found, row.verdict) for row in rows] == [("B", "3", "different")]
