"""Reads RECORD: the files of an installed distribution, with their hashes."""

from __future__ import annotations

import base64
import csv
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.install.overlay import find_original

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.install.interpreter import DistributionFacts


@dataclass(frozen=True, kw_only=True, slots=True)
class InstalledDistribution:
    """One installed distribution: its folder and its files there, with the SHA-256 of RECORD where it has one."""

    site: Path
    info: Path
    files: dict[str, str | None]

    def contains(self, path: str, *, is_new: bool) -> bool:
        """Return whether the distribution installs this path; for a new file judged by the files beside it."""
        if path in self.files or not is_new:
            return path in self.files
        pure = PurePosixPath(path)
        neighbours = [file for file in map(PurePosixPath, self.files) if file.parts[0] == pure.parts[0]]
        return len(pure.parts) > 1 and any(file.suffix == pure.suffix for file in neighbours)


def read_distribution(facts: DistributionFacts) -> InstalledDistribution:
    """Return the files of a distribution.

    Raises:
        PlanError: it has no RECORD, so its files are unknown.
    """
    info = Path(facts.folder)
    try:
        text = find_original(info.parent, f"{info.name}/RECORD").read_text(encoding="utf-8")
    except OSError as error:
        raise PlanError(
            f"{info}: has no RECORD",
            why="without it, the files of the distribution are unknown",
            next_step="reinstall it with pip or uv into that interpreter",
        ) from error
    rows = [row for row in csv.reader(text.splitlines()) if row]
    files = {row[0]: _decode_hash(row[1]) if len(row) > 1 else None for row in rows if _is_inside(row[0])}
    return InstalledDistribution(site=info.parent, info=info, files=files)


def list_guard_files(distributions: Sequence[DistributionFacts], site: Path) -> tuple[str, ...]:
    """Return the files whose later change shows another installation."""
    names = (f"{Path(facts.folder).name}/{name}" for facts in distributions for name in ("METADATA", "RECORD"))
    return tuple(name for name in dict.fromkeys(names) if find_original(site, name).is_file())


def _is_inside(path: str) -> bool:
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts and pure.suffix != ".pyc"


def _decode_hash(field: str) -> str | None:
    """Decode `sha256=<urlsafe base64 without padding>`, the form of the binary distribution format."""
    kind, _, value = field.partition("=")
    if kind != "sha256":
        return None
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except ValueError:
        return None
