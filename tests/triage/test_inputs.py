"""What can be wrong with an input: a note says so, and the rest is still read."""

from __future__ import annotations

import gzip
import os
import random
import threading
import time
from pathlib import Path

import pytest
from backproof.triage import line_header, rules, scan, sources, triage
from backproof.triage.collect import LineReader
from hypothesis import given, settings
from hypothesis import strategies as st

FAULT = "[ERROR] RUNTIME(77,):2027-02-14-10:00:00.000.001 [stars_engine.cc:1]8 ProcLogicCqReport:Task run failed, device_id=1, stream_id=2, task_id=3, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0\n"
INFO = "[INFO] GE(77,):2027-02-14-09:00:00.000.001 [graph.cc:1]77 Run: ok\n"


def plog(folder: Path, text: str = FAULT, name: str = "plog-77_20270214090000000.log") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_fifo_does_not_block(tmp_path: Path) -> None:
    plog(tmp_path)
    os.mkfifo(tmp_path / "pipe.log")
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert "did not read pipe.log: not a regular file" in result.notes


def test_links_in_a_loop_and_into_nothing(tmp_path: Path) -> None:
    plog(tmp_path)
    (tmp_path / "up").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "gone.log").symlink_to(tmp_path / "nowhere")
    result = triage([tmp_path])
    assert result.files == 1
    assert any(note.startswith("could not read gone.log") for note in result.notes)
    assert any(note.startswith("could not read loop") for note in result.notes)
    assert any("up was read already" in note for note in result.notes)


def test_a_path_that_is_not_there(tmp_path: Path) -> None:
    result = triage([tmp_path / "none"])
    assert (result.outcome, result.exit_code, result.files) == ("unread", 4, 0)
    assert any(note.startswith("could not read none") for note in result.notes)


def test_unreadable_file_found_at_reading(tmp_path: Path) -> None:
    """Gone between the walk and the reading, as rotation does it."""
    path = plog(tmp_path)
    files = sources.collect_files([tmp_path], lambda: tmp_path)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        scan.scan_range(scan.split_ranges(files.sources)[0])


@pytest.mark.parametrize("position", ["before", "after"])
def test_a_line_of_ten_megabytes(tmp_path: Path, position: str) -> None:
    """In a file that is read by lines and in one that is searched."""
    for name, size in (("small", 5), ("large", 10)):
        folder = tmp_path / name
        folder.mkdir()
        long = "x" * (size << 20) + "\n"
        plog(folder, long + FAULT if position == "before" else FAULT + long)
        result = triage([folder])
        assert result.first_fault is not None, name
        assert result.first_fault.line == (2 if position == "before" else 1), name


def test_a_growing_file_is_read_to_its_size_at_the_start(tmp_path: Path) -> None:
    path = plog(tmp_path, INFO * 1000 + FAULT)
    stop = threading.Event()

    def grow() -> None:
        with path.open("a", encoding="utf-8") as stream:
            while not stop.is_set():
                stream.write(INFO * 1000)
                stream.flush()

    writer = threading.Thread(target=grow)
    writer.start()
    try:
        result = triage([tmp_path])
        deadline = time.monotonic() + 60  # the writer may not have had its turn yet
        while path.stat().st_size <= result.bytes and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        stop.set()
        writer.join()
    assert result.first_fault is not None
    assert result.first_fault.line == 1001
    assert result.bytes < path.stat().st_size


def test_a_shrinking_file(tmp_path: Path) -> None:
    path = plog(tmp_path, FAULT * 10)
    files = sources.collect_files([tmp_path], lambda: tmp_path)
    path.write_text(FAULT, encoding="utf-8")
    assert len(scan.scan_range(scan.split_ranges(files.sources)[0]).entries) == 1


def test_a_truncated_archive_gives_what_it_holds(tmp_path: Path) -> None:
    packed = gzip.compress((FAULT + INFO * 20000).encode())
    (tmp_path / "plog-77_20270214090000000.log.gz").write_bytes(packed[: len(packed) // 2])
    (tmp_path / "broken.tar.gz").write_bytes(b"\x1f\x8b\x08\x00rubbish")
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert any("ends early" in note for note in result.notes)
    assert any(note.startswith("could not read broken.tar.gz") for note in result.notes)


def test_binary_files_are_left_out(tmp_path: Path) -> None:
    plog(tmp_path)
    (tmp_path / "core").write_bytes(b"\x7fELF" + bytes(4000))
    (tmp_path / "expect.json").write_text('{"x": "[ERROR] RUNTIME(1,): y"}')
    result = triage([tmp_path])
    assert result.files == 1
    assert any("core" in note and "expect.json" in note for note in result.notes)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_no_text_are_no_healthy_log(tmp_path: Path, seed: int) -> None:
    (tmp_path / "server.log").write_bytes(random.Random(seed).randbytes(70_000))  # noqa: S311 - the same bytes each time
    result = triage([tmp_path / "server.log"])
    assert result.outcome == "unread"
    assert result.files == 0
    assert any("server.log" in note for note in result.notes)


@pytest.mark.parametrize("text", ["\x1b[32mINFO\x1b[0m 中文日志 ok\r\n", "progress 1%\b\b2%\t\a\n", "é 設定\x0c\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_what_terminals_print_is_text(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "server.log").write_bytes((text * 100).encode(encoding))
    assert triage([tmp_path / "server.log"]).files == 1


def test_large_files_answer_as_small_ones_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file searched in pieces: every error is found once, with its line."""
    text = "".join(INFO * (3 + number % 5) + FAULT.replace("task_id=3", f"task_id={number}") for number in range(60))
    plog(tmp_path, text)
    whole = triage([tmp_path])
    for step in (400, 1000, 4096):
        monkeypatch.setattr(scan, "SMALL", 100)
        monkeypatch.setattr(scan, "RANGE", step)
        pieces = triage([tmp_path])
        assert pieces.first_fault == whole.first_fault
        assert pieces.counts == whole.counts
        assert pieces.detail_lines == whole.detail_lines
        assert pieces.ranks == whole.ranks


def test_the_last_of_many_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = (
        '[ERROR] OP(77,):2027-02-14-09:00:00.000.001 [a_tiling.cpp:1][Get][7] OpName:[ccccc] "==== tiling入口 ===="\n'
    )
    plog(tmp_path, noise * 3000 + FAULT + noise * 3000)
    monkeypatch.setattr(scan, "SMALL", 100)
    monkeypatch.setattr(scan, "_KEEP", 5)
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert result.first_fault.line == 3001
    assert result.counts["noise"] == 6000
    assert not result.lists_complete
    assert result.distribution[0].count == 6000


def test_several_processes_answer_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from backproof.triage import pool

    for number in range(4):
        plog(tmp_path, INFO * 50 + FAULT, f"plog-{number}_2027021409000000{number}.log")
    alone = triage([tmp_path])
    monkeypatch.setattr(pool, "_WORTH", -1.0)
    monkeypatch.setattr(pool, "_TRY", 0)
    assert triage([tmp_path]) == alone


@settings(max_examples=200, deadline=2000)
@given(st.binary(max_size=3000))
def test_any_bytes_are_read(data: bytes) -> None:
    reader = LineReader(0, rules.load_shipped_rules(), 10)
    for number, line in enumerate(data.split(b"\n"), 1):
        reader.read_line(line, number, number)
    assert len(reader.finish_summary().entries) <= data.count(b"\n") * 60 + 60


PIECES = st.sampled_from(
    [FAULT.strip(), INFO.strip(), "[ERROR] ", "EZ9999: Inner Error!", "        TraceBack (most recent call last):", "[PID: 9] ", "\x1b[0m", "\r", "\ud7ff", "é" * 500,
     "(Worker_TP3 pid=9) ", "ERROR 13-45 99:99:99 [a.py:1] ", "[Tue Feb 31 25:61:61 2027] [ascend] [ERROR] Heartbeat lost. (dev_id=99)", "sqSwStatus=0x", "9" * 40,
     "wait socket establish timeout, role[1] rank[8] timeout[99999999999]", "ErrCode=507011, desc=[x], InnerCode=0x7150050", "Avg prompt throughput: 1..2 tokens/s, Avg generation throughput: . tokens/s, Running: 1 reqs, Waiting: 1 reqs"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(PIECES | st.text(max_size=20), max_size=5).map("".join), max_size=20))
def test_any_mixture_gets_an_answer(lines: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.log").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
        result = triage([Path(folder)])
    assert (result.first_fault is None) == (result.outcome != "first-fault")
    if result.first_fault is not None:
        assert 1 <= result.first_fault.line <= sum(line.count("\n") for line in lines) + len(lines)


@given(st.text(max_size=300))
def test_a_line_always_has_a_head(line: str) -> None:
    assert line_header.read_heads(line.encode("utf-8", "replace"))
