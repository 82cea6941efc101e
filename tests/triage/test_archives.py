"""What people attach: archives in archives, packed and in other encodings. It is hostile: bounded, and what is left out is named."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

import py7zr
import pytest
from backproof.triage import archives, triage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAULT = b"[ERROR] RUNTIME(77,):2027-02-14-10:00:00.000.001 [stars_engine.cc:1]8 ProcLogicCqReport:Task run failed, device_id=1, stream_id=2, task_id=3, sqe_type=0(ffts), errType=0x1(task exception), sqSwStatus=0\n"


def make_zip(name: str, content: bytes) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return raw.getvalue()


def make_tar(name: str, content: bytes) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def pack_zst(content: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").compress(content))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": pack_zst,
    "zip": lambda content: make_zip("a.log", content),
    "tar": lambda content: make_tar("a.log", content),
}


@pytest.mark.parametrize("outer", PACKERS)
@pytest.mark.parametrize("inner", PACKERS)
def test_every_archive_is_read_inside_every_other_whatever_its_name(tmp_path: Path, inner: str, outer: str) -> None:
    (tmp_path / "attachment").write_bytes(PACKERS[outer](PACKERS[inner](b"up\n" + FAULT)))
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert (result.first_fault.line, result.unread) == (2, ())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_of_windows_is_read(tmp_path: Path, encoding: str) -> None:
    mark = "" if encoding == "utf-16" else "\ufeff"
    (tmp_path / "server.log").write_bytes((mark + "\u4e2d\r\n" + FAULT.decode()).encode(encoding))
    result = triage([tmp_path])
    assert result.first_fault is not None
    assert result.first_fault.line == 2


def test_members_with_hostile_names_are_only_labels(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(make_zip("../../\x1b[2J/etc\\\\cron.d/x.log", FAULT))
    result = triage([tmp_path / "a.zip"])
    assert result.first_fault is not None
    assert result.first_fault.file == "etc/cron.d/x.log"
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_what_cannot_be_unpacked_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.7z").write_bytes(b"7z\xbc\xaf\x27\x1c" + bytes(40))
    (tmp_path / "b.rar").write_bytes(b"Rar!\x1a\x07" + bytes(40))
    packed = bytearray(make_zip("a.log", FAULT))
    for at, start in ((packed.index(b"PK\x03\x04"), 6), (packed.index(b"PK\x01\x02"), 8)):
        packed[at + start] |= 1
    (tmp_path / "c.zip").write_bytes(packed)
    (tmp_path / "d.zip").write_bytes(make_zip("a.log", FAULT)[:60])
    result = triage([tmp_path])
    assert (result.outcome, result.exit_code) == ("unread", 4)
    assert [line.split(":")[0] for line in result.unread] == [
        "could not read a.7z to its end",
        "did not read b.rar",
        "did not read c.zip/a.log",
        "could not read d.zip to its end",
    ]


@pytest.fixture
def seven(tmp_path: Path) -> Path:
    path = tmp_path / "logs" / "a.7z"
    path.parent.mkdir()
    with py7zr.SevenZipFile(path, "w") as archive:
        archive.writestr(FAULT, "node0/server.log")
        archive.writestr(b"INFO ready\n" * 3, "node1/\x1b[2Jother.log")
    return path


def test_7z_is_read_and_its_names_are_only_labels(seven: Path) -> None:
    result = triage([seven])
    assert result.first_fault is not None
    assert result.first_fault.file == "node0/server.log"
    assert not result.unread
    assert [path.name for path in seven.parent.iterdir()] == ["a.7z"]


def test_7z_without_its_library_is_named_as_unread(seven: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py7zr", None)
    result = triage([seven])
    assert result.outcome == "unread"
    assert "it needs py7zr: pip install backproof[sevenzip]" in result.unread[0]


@pytest.mark.parametrize("what", ["encrypted", "cut", "a bomb"])
def test_7z_that_cannot_be_unpacked_is_named(seven: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    if what == "encrypted":
        with py7zr.SevenZipFile(seven, "w", password="secret") as archive:  # noqa: S106 - of this test
            archive.writestr(FAULT, "server.log")
    elif what == "cut":
        seven.write_bytes(seven.read_bytes()[:-20])
    else:
        monkeypatch.setattr(archives, "MAX_UNPACKED", 1 << 20)
        with py7zr.SevenZipFile(seven, "w") as archive:
            archive.writestr(bytes(4 << 20), "server.log")
    result = triage([seven])
    assert (result.outcome, result.exit_code) == ("unread", 4)
    assert "a.7z" in result.unread[0]
    assert {"encrypted": "it is encrypted", "cut": "no whole 7z", "a bomb": "unpack to more"}[what] in result.unread[0]


def test_archives_end_at_a_depth(tmp_path: Path) -> None:
    content = FAULT
    for _ in range(archives.MAX_DEPTH + 1):
        content = gzip.compress(content)
    (tmp_path / "deep.gz").write_bytes(content)
    result = triage([tmp_path])
    assert result.outcome == "unread"
    assert "archives inside each other" in result.unread[0]


@pytest.mark.parametrize("pack", PACKERS)
def test_a_bomb_ends_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: str) -> None:
    """All that was unpacked counts, also what is left out."""
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1 << 20)
    noise = b"nothing to see here\n" * 200_000
    (tmp_path / "bomb").write_bytes(PACKERS[pack](FAULT + noise))
    (tmp_path / "z.gz").write_bytes(gzip.compress(FAULT))
    result = triage([tmp_path])
    assert any("unpack to more than" in line for line in result.unread)
    assert result.bytes < 2 << 20
