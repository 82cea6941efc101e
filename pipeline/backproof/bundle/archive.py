"""Plain tar archives of regular files, in one form only: the same files always give the same bytes.

Not `tarfile`: what it reads it reads generously (links, devices, sparse files, extended headers, padding with whatever in
it), and what it writes differs between versions. The format is POSIX.1-1988 ustar; any tar program reads it.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BLOCK = 512
_NAME, _PREFIX = 100, 155
_NUMBER = re.compile(rb"[0-7]{11}\0")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


class Strange(Exception):  # noqa: N818 - what the archive is
    """The bytes are no archive of ours; the text says why."""


def written(files: Mapping[str, bytes]) -> bytes:
    """The archive of these files.

    Raises:
        Strange: a name that cannot be stored, or that would lead out of the folder it is unpacked into.
    """
    parts = [part for name in sorted(files) for part in _entry(name, files[name])]
    parts.append(bytes(2 * _BLOCK))
    return b"".join(parts)


def read(data: bytes, *, most: int) -> dict[str, bytes]:
    """The files of an archive that `written` made, and of no other.

    Raises:
        Strange: anything else, down to one bit of padding.
    """
    files: dict[str, bytes] = {}
    for name, content in _entries(data):
        if name in files:
            raise Strange(f"{name} is there twice")
        if len(files) >= most:
            raise Strange(f"it has more than {most} files")
        files[name] = content
    if written(files) != data:
        raise Strange("it is not in the one form that a bundle has: padding, order, owners or times differ")
    return files


def _entries(data: bytes) -> Iterator[tuple[str, bytes]]:
    offset = 0
    while header := data[offset : offset + _BLOCK].rstrip(b"\0"):
        header = header.ljust(_BLOCK, b"\0")
        if header[156:157] != b"0":
            raise Strange("it holds something else than regular files: a link, a folder or a device")
        if not _NUMBER.fullmatch(header[124:136]):
            raise Strange("the size of a file is no number")
        name, size = _name_of(header), int(header[124:135], 8)
        start = offset + _BLOCK
        if start + size > len(data):
            raise Strange(f"{name} is cut")
        yield name, data[start : start + size]
        offset = start + _padded(size)


def _name_of(header: bytes) -> str:
    name, prefix = (part.partition(b"\0")[0] for part in (header[:_NAME], header[345 : 345 + _PREFIX]))
    try:
        return must_be_safe((prefix + b"/" + name if prefix else name).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Strange("a name is not UTF-8") from error


def must_be_safe(name: str) -> str:
    """The name, when it stays inside the folder that it is unpacked into."""
    pure = PurePosixPath(name)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or str(pure) != name or _CONTROL.search(name):
        raise Strange(f"{name!r} is not a plain path inside the bundle")
    return name


def _entry(name: str, content: bytes) -> tuple[bytes, bytes, bytes]:
    return _header(must_be_safe(name), len(content)), content, bytes(_padded(len(content)) - len(content))


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _header(name: str, size: int) -> bytes:
    last, prefix = _split(name.encode())
    fields = (last.ljust(_NAME, b"\0"), b"0000644\0", b"0000000\0", b"0000000\0", b"%011o\0" % size, b"00000000000\0")
    rest = (
        b"0".ljust(101, b"\0"),
        b"ustar\x0000",
        bytes(64),
        b"0000000\0" * 2,
        prefix.ljust(_PREFIX, b"\0"),
        bytes(12),
    )
    total = sum(sum(part) for part in (*fields, b" " * 8, *rest))
    return b"".join((*fields, b"%06o\0 " % total, *rest))


def _split(name: bytes) -> tuple[bytes, bytes]:
    """The name, and the folders before it where it is longer than its field."""
    if len(name) <= _NAME:
        return name, b""
    for at in (index for index, each in enumerate(name) if each == ord("/")):
        if at <= _PREFIX and len(name) - at - 1 <= _NAME:
            return name[at + 1 :], name[:at]
    raise Strange(f"{name.decode()!r} is too long a name for an archive")
