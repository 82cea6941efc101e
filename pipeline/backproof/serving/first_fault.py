"""What the logs of a failed round say happened first; asked at once, before anything writes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.records.serving import Scene
from backproof.triage import triage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.triage import TriageResult


def first(paths: Sequence[Path]) -> tuple[Scene | None, TriageResult]:
    """The first scene, None where the logs have none; and the whole answer for the run folder."""
    found = triage([path for path in paths if path.exists()])
    if found.first_scene is None:
        return None, found
    scene = Scene(
        kind=found.first_scene.kind,
        where=f"{found.first_scene.file}:{found.first_scene.line}",
        verdict=found.verdict[:1000],
        confidence=found.confidence,
        code=found.code,
        device=found.device,
    )
    return scene, found
