"""manifest.json: each file of a bundle with two hashes, and which is which."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Record, Sha256

MANIFEST = "manifest.json"
STATEMENT = "statement.json"
PLAN = "plan.json"
RUN = "run/"
MEANING = {
    "sha256": "of the file as it is in this bundle",
    "original_sha256": "of the file as it was in the run folder, before secrets, hosts, addresses, user paths, serial numbers "
    "and the run's own paths were taken out of it",
    "signature": "none: the bundle shows that it is whole, not who made it",
}


class BundledFile(Record):
    """One file of the bundle. A file without an original was made for the bundle."""

    path: str
    size: int
    sha256: Sha256
    original_sha256: Sha256 | None = None

    @property
    def redacted(self) -> bool:
        return self.original_sha256 not in {None, self.sha256}


class Manifest(Record):
    """manifest.json."""

    schema_version: Literal[2] = 2
    tool: str
    run: str
    meaning: dict[str, str] = Field(default=MEANING, description="the meaning of each field")
    files: tuple[BundledFile, ...]
