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
    r"\.(?:json|ya?ml|toml|ini|py|pyc|sh|so|o|a|h|cpp|bin|np[yz]|pth?|safetensors|csv|db|html|svg|png|jpg|pdf|whl|zip)$",
    re.IGNORECASE,
)
_NESTED: Final = re.compile(r"\.(?:zip|7z|rar|zst|lz4|br|Z|tar|tgz|gz|bz2|xz)$", re.IGNORECASE)
ARCHIVES: Final = (".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")


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

    def leave_out(self, label: str) -> None:
        """Note a file that is no log; an archive that is not unpacked may hold one, so it counts as not read."""
        if _NESTED.search(label):
            self.unread.append(f"did not read {label}: an archive of this kind, or inside another, is not unpacked")
        else:
            self.left_out.append(label)


def join_label(top: str, name: str) -> str:
    return f"{top}/{name}" if top else name


def is_binary(start: bytes) -> bool:
    """Tell a binary file by its zeros; a few of them are a log that was being written when the power went."""
    return start.count(0) > len(start) // 10


def is_archive(name: str) -> bool:
    return name.lower().endswith(ARCHIVES)
