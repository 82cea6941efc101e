"""What there is to read: files of many folders, compressed ones and whole archives unpacked to a private folder.

Nothing here blocks or follows a name from an archive: what cannot be read becomes a note, and the rest is still read.
A file that grows is read up to the size it had when it was found.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import stat
import tarfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_FILES: Final = 20_000
MAX_UNPACKED: Final = 16 << 30
"""Bytes that all archives together may unpack to: a bomb ends here."""
_BLOCK: Final = 1 << 20
_NOT_LOGS: Final = re.compile(
    r"\.(?:json|ya?ml|toml|ini|py|pyc|sh|so|o|a|h|cpp|bin|np[yz]|pth?|safetensors|csv|db|html|svg|png|jpg|pdf|whl|zip)$",
    re.IGNORECASE,
)
_PACKED: Final = frozenset({".gz", ".bz2", ".xz"})
_ARCHIVES: Final = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError, tarfile.TarError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file to read: `label` is what a person sees, `path` the bytes, `size` how many of them."""

    label: str
    path: Path
    size: int


@dataclass(slots=True)
class Found:
    """Sources and notes while the walk goes on."""

    room: Path
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: set[tuple[int, int]] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    unpacked: int = 0


def collect(paths: Sequence[Path], room: Path) -> tuple[list[Source], list[str]]:
    """All readable files below `paths`, sorted by label, and a note for all that was not read.

    `room` is an empty private folder for what archives hold. With one path, labels are relative to it; with several,
    each starts with the name of its path.
    """
    found = Found(room=room)
    for number, path in enumerate(paths):
        top = "" if len(paths) == 1 else _top(paths, number)
        _visit(
            found,
            path,
            top if path.is_dir() or _is_archive(path) else _join(top, path.name) if top != path.name else top,
        )
    if found.left_out:
        found.notes.append(f"left out as no logs: {', '.join(found.left_out[:10])}{_more(len(found.left_out) - 10)}")
    return sorted(found.sources, key=lambda source: source.label), found.notes


def _more(count: int) -> str:
    return f" and {count} more" if count > 0 else ""


def _top(paths: Sequence[Path], number: int) -> str:
    name = paths[number].name or "path"
    twin = sum(path.name == paths[number].name for path in paths[:number])
    return f"{name}~{twin + 1}" if twin else name


def _join(top: str, name: str) -> str:
    return f"{top}/{name}" if top else name


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(_ARCHIVES)


def _visit(found: Found, path: Path, label: str) -> None:
    try:
        state = path.stat()  # follows links: a dangling one, or a loop of links, says so here
    except OSError as error:
        found.notes.append(f"could not read {label or path.name}: {error.strerror or error}")
        return
    key = (state.st_dev, state.st_ino)
    if key in found.seen:
        found.notes.append(f"{label or path.name} was read already under another name")
        return
    found.seen.add(key)
    if stat.S_ISDIR(state.st_mode):
        _folder(found, path, label)
    elif not stat.S_ISREG(state.st_mode):
        found.notes.append(f"did not read {label or path.name}: not a regular file")
    else:
        _file(found, path, label)


def _folder(found: Found, path: Path, label: str) -> None:
    try:
        names = sorted(os.listdir(path))  # noqa: PTH208 - plain names, bytes that are no text included
    except OSError as error:
        found.notes.append(f"could not read {label or path.name}: {error.strerror or error}")
        return
    for name in names:
        _visit(found, path / name, _join(label, name))


def _file(found: Found, path: Path, label: str) -> None:
    suffix = path.suffix.lower()
    if _NOT_LOGS.search(suffix):
        found.left_out.append(label or path.name)
        return
    if len(found.sources) >= MAX_FILES:
        found.notes.append(f"did not read {label}: more than {MAX_FILES} files")
        return
    try:
        if _is_archive(path):
            _archive(found, path, label)
        elif suffix in _PACKED:
            with _open(path) as raw:
                _unpack(found, _unpacked(raw, suffix), label or path.name)
        else:
            _plain(found, path, label or path.name)
    except _BROKEN as error:
        found.notes.append(f"could not read {label or path.name}: {error}")


def _open(path: Path) -> IO[bytes]:
    """Never waits: a FIFO that took the file's place since `stat` opens at once and is refused."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError("not a regular file")
    return os.fdopen(handle, "rb")


def _plain(found: Found, path: Path, label: str) -> None:
    with _open(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        start = stream.read(1024)
    if start.count(0) > len(start) // 10:
        found.left_out.append(label)
        return
    found.sources.append(Source(label=label, path=path, size=size))


def _unpacked(raw: IO[bytes], suffix: str) -> IO[bytes]:
    """The plain bytes of a compressed stream; reading them may fail."""
    if suffix == ".gz":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    return cast("IO[bytes]", bz2.BZ2File(raw) if suffix == ".bz2" else lzma.LZMAFile(raw))


def _archive(found: Found, path: Path, label: str) -> None:
    """Members in their order; their names are labels only, the bytes go to files that we name."""
    with _open(path) as raw, tarfile.open(fileobj=raw, mode="r:*") as archive:
        for member in archive:
            name = _join(label, _clean(member.name))
            stream = archive.extractfile(member) if member.isreg() else None
            if stream is None:
                if not member.isdir():
                    found.notes.append(f"did not read {name}: not a regular file")
                continue
            suffix = Path(member.name).suffix.lower()
            if _NOT_LOGS.search(suffix):
                found.left_out.append(name)
            elif suffix in _PACKED and not member.name.lower().endswith(_ARCHIVES):
                _unpack(found, _unpacked(stream, suffix), name)
            else:
                _unpack(found, stream, name)


def _clean(name: str) -> str:
    """A member's name as a label: no climbing, no control characters."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in {"", ".", ".."}]
    return "".join(sign if sign.isprintable() else "?" for sign in "/".join(parts))[:300] or "unnamed"


def _unpack(found: Found, stream: IO[bytes], label: str) -> None:
    target = found.room / f"{len(found.sources):06d}"
    size = 0
    try:
        with target.open("wb") as out:
            for block in _blocks(stream):
                size += out.write(block)
                found.unpacked += len(block)
                if found.unpacked > MAX_UNPACKED:
                    found.notes.append(f"{label} was cut: the archives unpack to more than {MAX_UNPACKED >> 30} GiB")
                    break
    except _BROKEN as error:
        found.notes.append(f"{label} ends early, {size} bytes could be read: {error}")
    found.sources.append(Source(label=label, path=target, size=size))


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(_BLOCK):
        yield block
