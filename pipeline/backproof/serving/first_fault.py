"""The first fault in the logs of a failed process, read at once, before anything writes over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.records.serving import LoggedFault
from backproof.triage import triage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.triage import TriageResult


def find_first_fault(paths: Sequence[Path]) -> tuple[LoggedFault | None, TriageResult]:
    """Return the first fault, None where the logs have none, and the whole answer for the run folder."""
    result = triage([path for path in paths if path.exists()])
    if result.first_fault is None:
        return None, result
    fault = LoggedFault(
        kind=result.first_fault.kind,
        where=f"{result.first_fault.file}:{result.first_fault.line}",
        verdict=result.verdict[:1000],
        confidence=result.confidence,
        code=result.code,
        device=result.device,
    )
    return fault, result
