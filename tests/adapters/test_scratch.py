"""Folders that go with their block: those of killed commands are removed, those of others stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from backproof.adapters import scratch

HOLD = """
import sys
from pathlib import Path
from backproof.adapters import scratch
scratch._MEMORY, scratch._ROOM = Path(sys.argv[1]), 0
with scratch.open_scratch() as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shm"
    folder.mkdir()
    monkeypatch.setattr(scratch, "_MEMORY", folder)
    monkeypatch.setattr(scratch, "_ROOM", 0)
    return folder


@pytest.mark.parametrize("alive", [True, False])
def test_only_a_folder_whose_command_is_gone_is_removed(memory: Path, alive: bool) -> None:
    line = [sys.executable, "-c", HOLD, str(memory)]
    process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    other = Path(process.stdout.readline().strip())
    (other / "file").write_text("content")
    if not alive:
        process.send_signal(signal.SIGKILL)
        process.wait()
    os.utime(other, (1, 1))
    with scratch.open_scratch() as folder:
        assert folder.parent == memory
        assert (other / "file").exists() == alive
    assert not folder.exists()
    process.communicate()


def test_a_folder_that_was_made_just_now_and_what_is_not_ours_stay(memory: Path, tmp_path: Path) -> None:
    (memory / "backproof-new").mkdir()
    (memory / "other").mkdir()
    (memory / "backproof-link").symlink_to(tmp_path)
    with scratch.open_scratch():
        assert {"backproof-new", "other", "backproof-link"} < {path.name for path in memory.iterdir()}
    assert memory.exists()


def test_without_room_the_folder_is_where_others_are(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_ROOM", 2**80)
    with scratch.open_scratch() as folder:
        assert folder.is_dir()
        assert folder.parent != memory
    assert not folder.exists()
