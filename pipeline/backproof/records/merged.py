"""The runs of a matrix, joined: merged.json."""

from __future__ import annotations

from typing import Literal

from backproof.core.model import Outcome, Record, Sha256


class Shard(Record):
    """One run, or what kept it from being one."""

    branch: str
    device: str
    outcome: Outcome
    level: int | None = None
    sentence: str
    run: str = ""
    base: str = ""
    sha256: Sha256 | None = None


class Merged(Record):
    """merged.json."""

    schema_version: Literal[1] = 1
    kit: str
    title: str
    outcome: Outcome
    shards: tuple[Shard, ...]
