"""The outside of a bundle: gzip, whose header carries the SHA-256 of all bytes behind it as a comment.

gzip's own checksum covers the content, but neither its header nor the bits that fill up a compressed block; and to compress
again and compare would tie a bundle to one version of zlib. gunzip and tar take no notice of the comment. It tells of damage,
not of forgery: whoever can write a file can seal it.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import TYPE_CHECKING

from backproof.bundle.archive import InvalidBundleError
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 256 * 1024 * 1024
"""Bytes of a bundle, unpacked; more is refused before it is unpacked."""
MOST_FILES = 5_000
_GZIP_HEADER = 10
# RFC 1952: a comment, no time, best compression, no system.
_HEADER = b"\x1f\x8b\x08\x10\x00\x00\x00\x00\x02\xffbackproof bundle 1 sha256:%s\x00"
_SEAL_LENGTH = len(_HEADER) - len(b"%s") + 64


def seal(data: bytes) -> bytes:
    packed = gzip.compress(data, mtime=0)[_GZIP_HEADER:]
    return _build_header(packed) + packed


def open_sealed(path: Path) -> bytes:
    """Return what is inside a sealed file.

    Raises:
        PlanError: it is a device or a pipe.
        InvalidBundleError: it is too large, cut, altered, or no bundle.
    """
    if not path.is_file():
        raise PlanError(
            f"{path}: not a regular file",
            why="a device or a pipe may never end, and a bundle is read whole",
            next_step="store the bundle as a file, then name that",
        )
    if path.stat().st_size > LARGEST:
        raise InvalidBundleError(f"it has more than {LARGEST} bytes")
    data = path.read_bytes()
    if not data.startswith(_HEADER.partition(b"%s")[0]):
        raise InvalidBundleError("it does not begin with the seal of a bundle: it is something else, or altered there")
    if data[:_SEAL_LENGTH] != _build_header(data[_SEAL_LENGTH:]):
        raise InvalidBundleError("its bytes are not the sealed ones: something in it was cut or altered")
    return _unpack(data)


def _unpack(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        data = unpacker.decompress(packed, LARGEST + 1)
    except zlib.error as error:
        raise InvalidBundleError(f"it cannot be unpacked: {error}") from error
    if len(data) > LARGEST:
        raise InvalidBundleError(f"it unpacks to more than {LARGEST} bytes")
    if not unpacker.eof or unpacker.unused_data:
        raise InvalidBundleError("it is not one gzip member as a bundle has it")
    return data


def _build_header(packed: bytes) -> bytes:
    return _HEADER % hashlib.sha256(packed).hexdigest().encode()
