"""The run folder: nothing half-written, nothing bricked, one run at a time."""

from __future__ import annotations

import json
import subprocess
import sys
from io import FileIO
from pathlib import Path

import pytest
from backproof.core.errors import HostError, PlanError
from backproof.core.model import Outcome
from backproof.core.redaction import redact
from backproof.records.proof import PickRecord, Run, Settings
from backproof.rundir import ledger
from backproof.rundir.ledger import Ledger, digest_of, write_atomic
from contexts import context_of, new_run
from hypothesis import given
from hypothesis import strategies as st
from stories import plan


def a_run() -> Run:
    settings = Settings(kit="k", repo="r", branch="b", python="p", device="emulator")
    return new_run(settings, outcome=Outcome.PASS)


def test_a_run_is_read_as_it_was_written(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.save_run(a_run())
    assert ledger.load_run() == a_run()


@pytest.mark.parametrize("content", [b"", b"{", b'{"schema_version": 99}', b"\xff\x00", b"[]"])
def test_a_ledger_of_another_version_restarts_and_is_kept(tmp_path: Path, content: bytes) -> None:
    ledger = Ledger(tmp_path)
    (tmp_path / "run.json").write_bytes(content)
    assert ledger.load_run() is None
    aside = ledger.set_aside()
    assert aside is not None
    assert aside.read_bytes() == content
    assert not (tmp_path / "run.json").exists()
    ledger.save_run(a_run())
    assert ledger.set_aside() is None


def test_a_missing_record_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        context_of(Ledger(tmp_path), tmp_path, a_run().settings, loaded_plan=plan()).require_record(PickRecord)
    assert f"backproof run {tmp_path} --only pick" in caught.value.next_step


def test_evidence_that_was_altered_no_longer_holds(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    file = ledger.write_text("pick/a.txt", "evidence\n")
    evidence = ledger.register_evidence(file, claim="c", command="cmd")
    assert evidence.path == "pick/a.txt"
    assert ledger.holds(evidence)
    file.write_text("evidencf\n")
    assert not ledger.holds(evidence)
    file.unlink()
    assert not ledger.holds(evidence)


def test_a_failed_write_leaves_the_old_content_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    write_atomic(path, b"old")

    def refuse(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["run.json"]


HOLD = "import sys; from pathlib import Path; from backproof.rundir.ledger import Ledger\nwith Ledger(Path(sys.argv[1])).hold_lock():\n    print('held', flush=True); sys.stdin.read()"


def test_two_runs_on_one_folder_and_a_killed_holder(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(HostError, match="another run works in this folder"), Ledger(tmp_path).hold_lock():
            pass
        holder.kill()
    with Ledger(tmp_path).hold_lock():
        pass


def test_events_are_redacted_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cr3t-value")
    ledger = Ledger(tmp_path)
    ledger.log_event("stage", note="with s3cr3t-value\nand a newline")
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert len(lines) == 1
    assert "s3cr3t-value" not in lines[0]


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_the_digest_does_not_depend_on_order(value: dict[str, int | str]) -> None:
    assert digest_of(value) == digest_of(dict(reversed(list(value.items()))))


@pytest.mark.parametrize(
    "secret",
    ["ghp_" + "a" * 36, "github_pat_" + "A1_" * 20, "https://user:pw@host/x", "Authorization: Bearer " + "x" * 30],
)
def test_token_shapes_are_masked(secret: str) -> None:
    masked = redact(f"before {secret} after")
    assert secret not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_a_line_that_was_cut_takes_no_other_with_it(tmp_path: Path) -> None:
    """A kill cuts a line without its end; the next event must not be written behind it."""
    ledger = Ledger(tmp_path)
    ledger.log_event("one")
    with (tmp_path / "events.jsonl").open("a") as stream:
        stream.write('{"at": "2026-')
    ledger.log_event("two")
    ledger.log_event("three")
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert [json.loads(each)["event"] for each in lines if each.endswith("}")] == ["one", "two", "three"]


class _Filling:
    """Stands in for a file on a disk that has five bytes left: write(2) takes what fits, and says so."""

    def __init__(self, stream: FileIO) -> None:
        self.stream = stream
        self.name = stream.name

    def write(self, data: bytes) -> int:
        return self.stream.write(data[:5])

    def truncate(self, size: int) -> int:
        return self.stream.truncate(size)


def test_a_full_disk_leaves_no_half_line(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(b"{}\n")
    with file.open("a+b", buffering=0) as stream, pytest.raises(OSError, match="No space"):
        ledger._append_whole(_Filling(stream), 3, b'{"event": "x"}\n')  # type: ignore[arg-type]
    assert file.read_bytes() == b"{}\n"
