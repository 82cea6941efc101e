"""Name the first fault of an NPU failure, not a secondary error. See docs/triage.md."""

from backproof.records.triage import TriageResult
from backproof.triage.engine import triage

__all__ = ["TriageResult", "triage"]
