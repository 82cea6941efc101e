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
    "original_sha256": "of the file as it was in the run folder, before anything was taken out of it",
    "recorded_sha256": "of the file when its stage registered it as evidence, as run.json has it",
    "redacted": "true where secrets, hosts, addresses, user paths, serial numbers or the run's own paths were taken out",
    "signature": "none: the bundle shows that it is whole, not who made it",
}


class BundledFile(Record):
    """One file of the bundle. A file without an original was made for the bundle."""

    path: str
    size: int
    sha256: Sha256
    original_sha256: Sha256 | None = None
    recorded_sha256: Sha256 | None = None
    redacted: bool = False


class MissingFile(Record):
    """Evidence that run.json names and the run folder did not have."""

    path: str
    recorded_sha256: Sha256


class Manifest(Record):
    """manifest.json."""

    schema_version: Literal[1] = 1
    tool: str
    run: str
    meaning: dict[str, str] = Field(default=MEANING, description="the meaning of each field")
    files: tuple[BundledFile, ...]
    missing: tuple[MissingFile, ...] = ()
