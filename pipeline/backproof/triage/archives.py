"""Unpack archives and compressed files into files with numbers for names; a member's own name is only a label.

A module of its own because most inputs need none of it, and the start of the command is measured in milliseconds.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import tarfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

from backproof.core.plain_text import escape_line
from backproof.triage.inputs import NOT_LOGS, Source, is_archive, is_binary, join_label

if TYPE_CHECKING:
    from io import BufferedIOBase

    from backproof.triage.inputs import LogFiles

MAX_UNPACKED: Final = 16 << 30
"""Bytes that all archives together may unpack to: a bomb ends here."""
BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, ValueError)
PACKED: Final = frozenset({".gz", ".bz2", ".xz"})
_BLOCK: Final = 64 << 10


def read_archive(files: LogFiles, raw: IO[bytes], name: str, label: str) -> None:
    """Read an archive's members, or the one file that a compressed file holds."""
    try:
        if is_archive(name):
            unpack_members(files, raw, label)
        else:
            unpack_stream(files, open_plain(raw, Path(name).suffix.lower()), label)
    except BROKEN as error:
        files.unread.append(f"could not read {label}: {error}")


def open_plain(raw: IO[bytes], suffix: str) -> BufferedIOBase:
    """Return the plain bytes of a compressed stream; reading them may fail."""
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=raw)
    return bz2.BZ2File(raw) if suffix == ".bz2" else lzma.LZMAFile(raw)


def unpack_members(files: LogFiles, raw: IO[bytes], label: str) -> None:
    """Unpack members in their order; their names are labels only, the files have numbers for names."""
    with tarfile.open(fileobj=raw, mode="r:*") as archive:
        for member in archive:
            name = join_label(label, _clean_name(member.name))
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is None:
                if not member.isdir():
                    files.unread.append(f"did not read {name}: not a regular file")
                continue
            suffix = Path(member.name).suffix.lower()
            if NOT_LOGS.search(suffix) or is_archive(member.name):
                files.leave_out(name)
            elif suffix in PACKED:
                unpack_stream(files, open_plain(stream, suffix), name)
            else:
                unpack_stream(files, cast("BufferedIOBase", stream), name)


def _clean_name(name: str) -> str:
    """Return a member's name as a label: no climbing, no control characters."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    return escape_line("/".join(parts))[:300] or "unnamed"


def unpack_stream(files: LogFiles, stream: BufferedIOBase, label: str) -> None:
    """Write a stream to a file; the bytes before an error count."""
    target, size = files.folder() / f"{len(files.sources):06d}", 0
    try:
        with target.open("wb") as out:
            # read1: a broken stream still gives the blocks before the break
            while (block := stream.read1(_BLOCK)) and files.unpacked < MAX_UNPACKED:
                size += out.write(block)
                files.unpacked += len(block)
        if files.unpacked >= MAX_UNPACKED:
            files.unread.append(f"{label} was cut: the archives unpack to more than {MAX_UNPACKED >> 30} GiB")
    except BROKEN as error:
        files.unread.append(f"{label} ends early, {size} bytes could be read: {error}")
    with target.open("rb") as written:
        binary = is_binary(written.read(1024))
    if binary:
        files.leave_out(label)
        target.unlink()
    else:
        files.sources.append(Source(label=label, path=target, size=size))
