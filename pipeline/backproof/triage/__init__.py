"""Names the first scene of an NPU failure, not its echo. See docs/triage.md."""

from backproof.records.triage import TriageResult
from backproof.triage.engine import triage

__all__ = ["TriageResult", "triage"]
