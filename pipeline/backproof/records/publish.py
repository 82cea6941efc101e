"""A comment that was posted, as the run folder keeps it."""

from __future__ import annotations

from typing import Literal

from backproof.core.model import Sha256, StageRecord


class PublishRecord(StageRecord):
    """publish/publish.json."""

    schema_version: Literal[1] = 1
    repo: str
    pull: int
    action: Literal["created", "updated", "kept"]
    url: str
    comment: int
    check: str = ""
    sha256: Sha256
    at: str
