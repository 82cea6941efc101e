"""The built wheel, away from the checkout: the command answers, and its templates and target files came along."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import resources
from pathlib import Path

import backproof
import pytest

pytestmark = pytest.mark.skipif(os.environ.get("BACKPROOF_WHEEL") != "1", reason="runs in the tox environment `wheel`")


def call(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = Path(sys.executable).with_name("backproof")
    return subprocess.run([command, *args], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_package_under_test_is_the_installed_one() -> None:
    assert "site-packages" in Path(backproof.__file__).parts


@pytest.mark.parametrize(
    "name",
    [
        "_kits/19353/plan.toml",
        "_kits/urllib3-2869/series/0001-Send-a-request-on-a-reused-connection-under-its-own.patch",
        "_reports/comment.md.j2",
        "_reports/report.html.j2",
        "_reports/sentences.toml",
        "_reports/hardware.toml",
        "target/run_check.py",
        "target/probe.py",
        "py.typed",
    ],
)
def test_data_files_are_in_the_wheel(name: str) -> None:
    assert resources.files("backproof").joinpath(name).is_file()


def test_the_command_answers(tmp_path: Path) -> None:
    done = call("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "130 interrupted" in done.stdout


def test_no_kit_here_is_a_usage_error_with_a_next_step(tmp_path: Path) -> None:
    done = call("demo", cwd=tmp_path)
    assert done.returncode == 2
    assert "next: name a kit" in done.stderr
    assert done.stdout == ""
