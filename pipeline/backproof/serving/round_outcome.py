"""The outcome of a round in one word: from its steps, the end of the service, and the first fault in its logs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from backproof.serving import first_fault, service

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.core.errors import TargetError
    from backproof.records.serving import LoggedFault, Round, Step
    from backproof.serving.round_context import RoundContext
    from backproof.serving.service import Service

SILENT: Final = "fault:silent"
"""The same word that the emulator has for wrong numbers without an error."""
_KILLED: Final = -9


def close_round(context: RoundContext, current: Round, running: Service) -> Round:
    """Return the round with its outcome; a round that the budget cut short stays open."""
    bad = next((step for step in current.steps if step.outcome != "pass"), None)
    if bad is None:
        gone = running.exit_code is not None or not service.is_healthy(running, context.serve.health)
        if not gone:
            return _close_passed(context, current)
    if bad is None or bad.outcome in {"failed", "stalled"}:
        return _close_failed(context, current, running, bad)
    observed = SILENT if bad.outcome == "corrupt" else "error"
    return current.model_copy(update={"observed": observed, "why": bad.sentence, "complete": True})


def _close_passed(context: RoundContext, current: Round) -> Round:
    done = {step.concurrency for step in current.steps}
    left = [concurrency for concurrency in context.serve.concurrency if concurrency not in done]
    why = f"the budget left out {left}" if left else ""
    return current.model_copy(update={"observed": "pass", "why": why, "complete": not left})


def _close_failed(context: RoundContext, current: Round, running: Service, bad: Step | None) -> Round:
    code = _await_exit(running, context.settle)
    fault = _triage_logs(context)
    what = bad.sentence if bad else "the service was gone after its last step"
    observed, why = _name_fault(fault, code, stalled=bad is not None and bad.outcome == "stalled")
    facts = {"observed": observed, "why": f"{what}; {why}"[:2000], "first_fault": fault, "exit_code": code}
    return current.model_copy(update={**facts, "complete": True})


def _name_fault(fault: LoggedFault | None, code: int | None, *, stalled: bool) -> tuple[str, str]:
    if fault is not None:
        return f"fault:{fault.kind}", f"the first fault is at {fault.where}: {fault.verdict}"
    if code == _KILLED:
        # The kernel's memory killer and people kill so; a program does not do it to itself.
        return "error", "the service was killed from outside (signal 9) and its logs show no fault: look at dmesg"
    if stalled:
        return "fault:stalled", "its logs show no first fault"
    if code is not None:
        return "fault:crash", f"the service ended with code {code}, its logs show no first fault"
    return "fault:request-failed", "the service still runs, its logs show no first fault"


def _await_exit(running: Service, settle: float) -> int | None:
    """Return its exit code; a service takes a moment to fall, and its log to be written."""
    limit = time.monotonic() + settle
    while running.exit_code is None and time.monotonic() < limit:
        time.sleep(0.05)
    return running.exit_code


def close_unstarted(context: RoundContext, begun: Round, error: TargetError) -> Round:
    """Return the round of a service that never was healthy: it shows nothing about load, so it is an ERROR."""
    why = f"{error.what}: {error.why}"[:2000]
    facts = {"observed": "error", "why": why, "first_fault": _triage_logs(context), "complete": True}
    return begun.model_copy(update=facts)


def _triage_logs(context: RoundContext) -> LoggedFault | None:
    """Return the first fault; the whole triage goes to the round's folder."""
    logs: list[Path] = [context.folder / "service.log", *([context.logs] if context.logs else [])]
    fault, result = first_fault.find_first_fault(logs)
    context.keep("triage.json", result)
    return fault
