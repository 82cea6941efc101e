"""The files of a walk over logs, shared by plain files and archives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_FILES: Final = 20_000
NOT_LOGS: Final = re.compile(
    r"\.(?:json|ya?ml|toml|ini|py|pyc|sh|so|o|a|h|cpp|bin|np[yz]|pth?|safetensors|csv|db|html|svg|png|jpg|pdf|whl)$",
    re.IGNORECASE,
)
SNIFFED: Final = 1024
"""Bytes by which the form of a file is told, whatever its name says."""
# What terminals are steered with is text: bell, backspace, tabs, line and page ends, escape.
_CONTROLS: Final = bytes(set(range(1, 32)) - set(b"\a\b\t\n\v\f\r\x1b")) + b"\x7f"
_MAGIC: Final = {
    b"\x1f\x8b": "gz",
    b"BZh": "bz2",
    b"\xfd7zXZ\x00": "xz",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zst",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "rar",
    b"\x04\x22\x4d\x18": "lz4",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file to read: `label` is for people, `path` holds the bytes, `size` is their number."""

    label: str
    path: Path
    size: int


@dataclass(slots=True)
class LogFiles:
    """Sources and notes while the walk goes on. `folder` makes the private folder for what archives hold."""

    folder: Callable[[], Path]
    alone: bool
    sources: list[Source] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    """What was not read to its end, each with its reason."""
    seen: set[tuple[int, int]] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)
    unpacked: int = 0
    written: int = 0


def join_label(top: str, name: str) -> str:
    return f"{top}/{name}" if top else name


def is_binary(start: bytes) -> bool:
    """Tell a binary file by its zeros, or by bytes that no text has, in any of its encodings.

    A few zeros are a log that was being written when the power went. In random bytes one of ten is such a control character.
    """
    return start.count(0) > len(start) // 10 or len(start) - len(start.translate(None, _CONTROLS)) > len(start) // 20


def find_form(start: bytes) -> str:
    """Return `utf-16`, or the form of an archive or compressed file, by its first bytes; empty for anything else."""
    if start[257:262] == b"ustar":
        return "tar"
    return next((form for magic, form in _MAGIC.items() if start.startswith(magic)), "")
