"""A host that looks like an A3 to what asks npu-smi, and says of itself that it is none."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

STAND_IN = Path(__file__).parent / "stand_ins" / "npu_smi.py"


@dataclass(frozen=True)
class FakeHost:
    """The state of the stand-in npu-smi."""

    state: Path

    def set(self, **facts: Any) -> None:
        self.state.write_text(json.dumps(facts), encoding="utf-8")


def write_program(folder: Path) -> Path:
    """Put the stand-in into a folder for PATH."""
    program = folder / "npu-smi"
    folder.mkdir()
    # This interpreter by its path: what `python3` on PATH starts can take half a second, and each test asks a few times.
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -E {shlex.quote(str(STAND_IN))} "$@"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def fake_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeHost:
    host = FakeHost(tmp_path / "npu-smi.json")
    host.set()
    program = write_program(tmp_path / "bin")
    monkeypatch.setenv("NPU_SMI_STATE", str(host.state))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    # Locks of chips lie in the temporary folder: two test runs on one machine must not share it, nor their processes.
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("ASCEND_RT_VISIBLE_DEVICES", "ASCEND_TOOLKIT_HOME", "CANN_HOME", "ASCEND_HOME_PATH"):
        monkeypatch.delenv(name, raising=False)
    return host
