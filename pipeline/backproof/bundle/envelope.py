"""The outside of a bundle: gzip, with a last member that is empty and carries the SHA-256 of all bytes before it.

gzip's own checksum covers the content, but neither its header nor the bits that fill up a compressed block; the seal
covers them. gunzip and tar take no notice of it. It tells of damage, not of forgery: whoever can write a file can seal it.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from typing import TYPE_CHECKING

from backproof.bundle.archive import Strange

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 256 * 1024 * 1024
"""Bytes of a bundle, unpacked; more is refused before it is unpacked."""
MOST_FILES = 5_000
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
_FIRST = b"\x1f\x8b\x08\x10\x00\x00\x00\x00\x02\xffbackproof bundle 1 sha256:"
_EMPTY = b"\0\x03\x00" + bytes(8)
_SEAL = re.compile(re.escape(_FIRST) + b"[0-9a-f]{64}" + re.escape(_EMPTY))
_LENGTH = len(_FIRST) + 64 + len(_EMPTY)


def sealed(data: bytes) -> bytes:
    packed = _HEADER + gzip.compress(data, mtime=0)[len(_HEADER) :]
    return packed + _seal(packed)


def opened(path: Path) -> bytes:
    """What is inside a sealed file.

    Raises:
        Strange: it is too large, cut, altered, or no bundle.
    """
    if path.stat().st_size > LARGEST:
        raise Strange(f"it has more than {LARGEST} bytes")
    data = path.read_bytes()
    packed, seal = data[:-_LENGTH], data[-_LENGTH:]
    if not _SEAL.fullmatch(seal):
        raise Strange("it does not end with the seal of a bundle: it is cut, altered at its end, or something else")
    if seal != _seal(packed):
        raise Strange("its bytes are not the sealed ones: something in it was altered")
    return _unpacked(packed)


def _unpacked(packed: bytes) -> bytes:
    unpack = zlib.decompressobj(wbits=31)
    try:
        data = unpack.decompress(packed, LARGEST + 1)
    except zlib.error as error:
        raise Strange(f"it cannot be unpacked: {error}") from error
    if len(data) > LARGEST:
        raise Strange(f"it unpacks to more than {LARGEST} bytes")
    if not unpack.eof or unpack.unused_data or not packed.startswith(_HEADER):
        raise Strange("it is not one gzip member as a bundle has it")
    return data


def _seal(packed: bytes) -> bytes:
    return _FIRST + hashlib.sha256(packed).hexdigest().encode() + _EMPTY
