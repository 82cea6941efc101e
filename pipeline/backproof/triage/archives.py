"""Unpack archives, also inside each other, and text in UTF-16, into files with numbers for names; a member's own name is only a label.

A module of its own because most inputs need none of it, and the start of the command is measured in milliseconds.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any, Final, cast

from backproof.core.plain_text import escape_line
from backproof.triage.inputs import MAX_FILES, NOT_LOGS, SNIFFED, Source, find_form, is_binary, join_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from backproof.triage.inputs import LogFiles

MAX_UNPACKED: Final = 16 << 30
"""Bytes that all archives together may unpack to: a bomb ends here."""
MAX_DEPTH: Final = 5
"""Archives inside each other."""
BROKEN: Final = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    ValueError,
    RuntimeError,
)
_BLOCK: Final = 64 << 10


class Unpacked(io.RawIOBase):
    """The bytes of a stream, counted against what all archives may unpack to. Reading may fail."""

    def __init__(self, files: LogFiles, stream: IO[bytes]) -> None:
        super().__init__()
        self._files, self._stream = files, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # read1: a broken stream still gives the blocks before the break
        read = getattr(self._stream, "read1", self._stream.read)
        block = read(len(buffer))
        self._files.unpacked += len(block)
        if self._files.unpacked > MAX_UNPACKED:
            raise OSError(f"the archives unpack to more than {MAX_UNPACKED >> 30} GiB")
        buffer[: len(block)] = block
        return len(block)


def unpack_stream(files: LogFiles, raw: IO[bytes], label: str, *, inner: str, depth: int = 0) -> None:
    """Add what a stream holds: a text, or the members of an archive.

    Args:
        label: of the stream itself.
        inner: what the labels of members start with.
    """
    stream = io.BufferedReader(Unpacked(files, raw), _BLOCK)
    try:
        form = find_form(stream.peek(SNIFFED)[:SNIFFED])
        if depth >= MAX_DEPTH and form not in {"", "utf-16"}:
            files.unread.append(f"did not read {label}: more than {MAX_DEPTH} archives inside each other")
        elif form in _MEMBERS:
            for name, member in _MEMBERS[form](files, stream, label):
                _add_member(files, member, join_label(inner, name), depth + 1)
        elif form in _PLAIN:
            unpack_stream(files, _PLAIN[form](stream), label, inner=inner, depth=depth + 1)
        elif form in {"", "utf-16"}:
            _write_text(files, stream, label, form)
        else:
            files.unread.append(
                f"did not read {label}: {form} is not unpacked here; give it as zip, tar, gz, bz2 or xz"
            )
    except BROKEN as error:
        files.unread.append(f"could not read {label} to its end: {error}")


def _add_member(files: LogFiles, member: IO[bytes] | str, name: str, depth: int) -> None:
    if isinstance(member, str):
        files.unread.append(f"did not read {name}: {member}")
    elif len(files.sources) >= MAX_FILES:
        files.unread.append(f"did not read {name}: more than {MAX_FILES} files")
    elif NOT_LOGS.search(name):
        files.left_out.append(name)
    else:
        unpack_stream(files, member, name, inner=name, depth=depth)


def _list_tar(_files: LogFiles, stream: IO[bytes], _label: str) -> Iterator[tuple[str, IO[bytes] | str]]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None or not member.isdir():
                yield clean_name(member.name), content or "not a regular file"


def _list_zip(files: LogFiles, stream: IO[bytes], label: str) -> Iterator[tuple[str, IO[bytes] | str]]:
    """List the members of a zip archive, which is written to a file first: its table of contents stands at its end."""
    path = _write_blocks(files, stream, label)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.flag_bits & 1:
                yield clean_name(member.filename), "it is encrypted"
            elif not member.is_dir():
                with archive.open(member) as content:
                    yield clean_name(member.filename), content
    path.unlink()


def _list_7z(files: LogFiles, stream: IO[bytes], label: str) -> Iterator[tuple[str, IO[bytes] | str]]:
    """List the members of a 7z archive: its library writes them, one after the other, into files with numbers for names."""
    try:
        import py7zr  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise OSError("it needs py7zr: pip install backproof[sevenzip]") from error
    from backproof.triage.numbered_files import NumberedFiles  # noqa: PLC0415 - a class of that library's

    path = _write_blocks(files, stream, label)
    members = NumberedFiles(files.folder() / f"{path.name}-7z", limit=MAX_UNPACKED - files.unpacked)
    try:
        with py7zr.SevenZipFile(path) as archive:
            archive.extractall(factory=members)  # noqa: S202 - no name of a member is a path here
    except py7zr.exceptions.PasswordRequired as error:
        raise OSError("it is encrypted") from error
    except py7zr.exceptions.ArchiveError as error:
        raise OSError(f"it is no whole 7z archive: {error}") from error
    finally:
        members.close()
        path.unlink()
    for name, member in members.written.items():
        with member.open("rb") as content:
            yield clean_name(name), content
        member.unlink()


def _open_zst(stream: IO[bytes]) -> IO[bytes]:
    try:
        import zstandard  # noqa: PLC0415 - of an extra
    except ImportError as error:
        raise OSError("it needs zstandard: pip install backproof[archives]") from error
    return zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)


_MEMBERS: Final[Mapping[str, Callable[[LogFiles, IO[bytes], str], Iterator[tuple[str, IO[bytes] | str]]]]] = {
    "tar": _list_tar,
    "zip": _list_zip,
    "7z": _list_7z,
}
_PLAIN: Final[Mapping[str, Callable[[IO[bytes]], Any]]] = {
    "gz": lambda stream: gzip.GzipFile(fileobj=stream),
    "bz2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zst": _open_zst,
}


def clean_name(name: str) -> str:
    """Return a member's name as a label: no climbing, no control characters."""
    parts = escape_line(name.replace("\\", "/")).split("/")
    return "/".join(part for part in parts if part not in {"", ".", ".."})[:300] or "unnamed"


def _write_text(files: LogFiles, stream: IO[bytes], label: str, form: str) -> None:
    """Write a text to a file, as UTF-8; the bytes before an error count."""
    path = _write_blocks(files, stream, label, codecs.getincrementaldecoder("utf-16")("replace") if form else None)
    with path.open("rb") as written:
        binary = is_binary(written.read(SNIFFED))
    if binary:
        files.left_out.append(label)
        path.unlink()
    else:
        files.sources.append(Source(label=label, path=path, size=path.stat().st_size))


def _write_blocks(
    files: LogFiles, stream: IO[bytes], label: str, decoder: codecs.IncrementalDecoder | None = None
) -> Path:
    files.written += 1
    path = files.folder() / f"{files.written:06d}"
    with path.open("wb") as out:
        try:
            while block := cast("io.BufferedReader", stream).read1(_BLOCK):
                out.write(decoder.decode(block).encode() if decoder else block)
        except BROKEN as error:
            files.unread.append(f"{label} ends early, {out.tell()} bytes could be read: {error}")
    return path
