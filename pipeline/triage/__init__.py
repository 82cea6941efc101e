"""Names the first scene of an NPU failure, not its echo. See docs/triage.md."""

from pipeline.triage.engine import triage
from pipeline.triage.result import TriageResult

__all__ = ["TriageResult", "triage"]
