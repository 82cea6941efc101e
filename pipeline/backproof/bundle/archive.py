"""Tar archives of regular files, in one form only: the same files always give the same bytes."""

from __future__ import annotations

import io
import re
import tarfile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

_LARGEST = 8**11
"""What fits into the field of a header; tarfile also takes another notation, with signs and without an end."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f\\]")


class InvalidBundleError(Exception):
    """The bytes are no bundle of Backproof; the text says why."""


class _RegularFile(tarfile.TarInfo):
    """A member that is refused by its header unless it is a regular file.

    That is before tarfile looks at what follows: links, devices, sparse files and extended headers, some of which have
    kept it busy for ever (CVE-2025-8194).
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        member = super().frombuf(buf, encoding, errors)
        if member.type != tarfile.REGTYPE:
            raise InvalidBundleError("it holds something else than regular files: a link, a folder or a device")
        if not 0 <= member.size < _LARGEST:
            raise InvalidBundleError("a file in it has a size that none can have")
        return member


def write_archive(files: Mapping[str, bytes]) -> bytes:
    """Return the archive of these files: sorted by name, without owners or times.

    Raises:
        InvalidBundleError: a name that cannot be stored, or that leads out of the folder it is unpacked into.
    """
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            member = tarfile.TarInfo(require_plain_path(name))
            member.size = len(files[name])
            try:
                archive.addfile(member, io.BytesIO(files[name]))
            except ValueError as error:
                raise InvalidBundleError(f"{name!r} is too long a name for an archive") from error
    return buffer.getvalue()


def read_archive(data: bytes, *, most: int) -> dict[str, bytes]:
    """Return the files of an archive that `write_archive` made, and of no other.

    Raises:
        InvalidBundleError: anything else, down to one bit of padding.
    """
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", tarinfo=_RegularFile, errors="strict") as archive:
            for member in archive:
                if require_plain_path(member.name) in files:
                    raise InvalidBundleError(f"{member.name} is there twice")
                if len(files) >= most:
                    raise InvalidBundleError(f"it has more than {most} files")
                stream = archive.extractfile(member)
                files[member.name] = stream.read() if stream else b""
    except (tarfile.TarError, UnicodeDecodeError) as error:
        raise InvalidBundleError(f"it is no archive: {error}") from error
    # tarfile reads generously: what it takes no notice of does not come out again.
    if write_archive(files) != data:
        raise InvalidBundleError("it is not in the one form that a bundle has: padding, order, owners or times differ")
    return files


def require_plain_path(name: str) -> str:
    """Return the name, when it stays inside the folder that it is unpacked into."""
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or str(path) != name or _CONTROL.search(name):
        raise InvalidBundleError(f"{name!r} is not a plain path inside the bundle")
    return name
