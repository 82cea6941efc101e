"""A capture moves and collects; it deletes nothing and ends no process."""

from __future__ import annotations

import datetime as dt
import hashlib
import os
import shlex
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from backproof.core.errors import HostError
from backproof.host import capture

NOW = dt.datetime(2027, 2, 14, 10, 0, tzinfo=dt.UTC)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    old = tmp_path / "home/ascend/log/debug/plog"
    old.mkdir(parents=True)
    (old / "plog-1_20270101000000000.log").write_text("old\n", encoding="utf-8")
    return tmp_path / "home"


def begin(tmp_path: Path, home: Path, *argv: str) -> capture.CaptureSession:
    return capture.start_capture(argv or ("true",), tmp_path / "out", env={"HOME": str(home)}, now=NOW)


def test_old_logs_are_renamed(tmp_path: Path, home: Path) -> None:
    session = begin(tmp_path, home)
    assert session.moved is not None
    assert (Path(session.moved) / "debug/plog/plog-1_20270101000000000.log").read_text("utf-8") == "old\n"
    assert list((home / "ascend/log").iterdir()) == []


def test_the_name_aside_is_free(tmp_path: Path, home: Path) -> None:
    first = begin(tmp_path, home)
    capture.stop_capture(tmp_path / "out", now=NOW)
    second = begin(tmp_path, home)
    assert first.moved != second.moved
    assert Path(first.moved or "").is_dir()


def test_the_command_sees_the_variables(tmp_path: Path, home: Path) -> None:
    session = begin(
        tmp_path,
        home,
        sys.executable,
        "-c",
        "import os; print(os.environ['ASCEND_PROCESS_LOG_PATH'], os.environ['HCCL_EXEC_TIMEOUT'])",
    )
    done = subprocess.run(shlex.split(session.command), check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(home / "ascend/log"), "1200"]


def test_stop_collects_with_hashes(tmp_path: Path, home: Path) -> None:
    begin(tmp_path, home)
    new = home / "ascend/log/debug/plog"
    new.mkdir(parents=True)
    (new / "plog-2_20270214100000000.log").write_bytes(b"new\n")
    (new / "link.log").symlink_to("/etc/passwd")
    os.mkfifo(new / "pipe")
    manifest = capture.stop_capture(tmp_path / "out", now=NOW)
    with tarfile.open(tmp_path / "out" / manifest.archive) as archive:
        for file in manifest.files:
            stream = archive.extractfile(file.name)
            assert stream is not None
            assert hashlib.sha256(stream.read()).hexdigest() == file.sha256
        assert archive.getnames() == [file.name for file in manifest.files]
    assert "log/debug/plog/plog-2_20270214100000000.log" in [file.name for file in manifest.files]
    assert sum("not a regular file" in note for note in manifest.notes) == 2
    written = tmp_path / "out" / f"{manifest.archive}.manifest.json"
    assert capture.Manifest.model_validate_json(written.read_text("utf-8")) == manifest


def test_a_host_without_tools(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(tmp_path, home)
    monkeypatch.setenv("PATH", str(tmp_path))
    manifest = capture.stop_capture(tmp_path / "out", now=NOW)
    assert manifest.files == ()
    assert sum(note.startswith("no ") for note in manifest.notes) == 4


def test_twice_is_refused(tmp_path: Path, home: Path) -> None:
    begin(tmp_path, home)
    with pytest.raises(HostError):
        begin(tmp_path, home)
    capture.stop_capture(tmp_path / "out", now=NOW)
    with pytest.raises(HostError):
        capture.stop_capture(tmp_path / "out", now=NOW)


def test_a_broken_session_is_said(tmp_path: Path) -> None:
    (tmp_path / capture.SESSION).write_text("{", encoding="utf-8")
    with pytest.raises(HostError) as caught:
        capture.stop_capture(tmp_path)
    assert "cannot be read" in str(caught.value)


@pytest.mark.parametrize(
    ("env", "path"),
    [
        ({"HOME": "/h"}, "/h/ascend/log"),
        ({"HOME": "/h", "ASCEND_WORK_PATH": "/w"}, "/w/log"),
        ({"ASCEND_WORK_PATH": "/w", "ASCEND_PROCESS_LOG_PATH": "/p"}, "/p"),
    ],
)
def test_where_the_runtime_writes(env: dict[str, str], path: str) -> None:
    assert capture.log_directory(env) == Path(path)
