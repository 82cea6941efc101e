"""What a round showed, in one word: asked from its steps, how the service ended, and what its logs say came first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from backproof.serving import first_fault, service

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.core.errors import TargetError
    from backproof.records.serving import Round, Scene, Step
    from backproof.serving.service import Service
    from backproof.serving.setup import Setup

SILENT: Final = "fault:silent"
"""The same word that the emulator has for wrong numbers without an error."""
_KILLED: Final = -9


def closed(setup: Setup, now: Round, running: Service) -> Round:
    """The round with its outcome; a round that the budget cut short stays open."""
    bad = next((each for each in now.steps if each.outcome != "pass"), None)
    if bad is None:
        gone = running.exit_code is not None or not service.healthy(running, setup.serve.health)
        if not gone:
            return _passed(setup, now)
    if bad is None or bad.outcome in {"failed", "stalled"}:
        return _failed(setup, now, running, bad)
    observed = SILENT if bad.outcome == "corrupt" else "error"
    return now.model_copy(update={"observed": observed, "why": bad.sentence, "complete": True})


def _passed(setup: Setup, now: Round) -> Round:
    if len(now.steps) < len(setup.serve.concurrency):
        left = [each for each in setup.serve.concurrency if each not in {step.concurrency for step in now.steps}]
        return now.model_copy(update={"observed": "pass", "why": f"the budget left out {left}", "complete": False})
    return now.model_copy(update={"observed": "pass", "complete": True, "why": ""})


def _failed(setup: Setup, now: Round, running: Service, bad: Step | None) -> Round:
    code = _ended(running, setup.settle)
    found, whole = first_fault.first(logs(setup))
    setup.keep("triage.json", whole)
    said = bad.sentence if bad else "the service was gone after its last step"
    observed, why = _word(found, code, stalled=bad is not None and bad.outcome == "stalled")
    facts = {"observed": observed, "why": f"{said}; {why}"[:2000], "scene": found, "exit_code": code}
    return now.model_copy(update={**facts, "complete": True})


def _word(found: Scene | None, code: int | None, *, stalled: bool) -> tuple[str, str]:
    if found is not None:
        return f"fault:{found.kind}", f"the first scene is {found.where}: {found.verdict}"
    if code == _KILLED:
        # The kernel's memory killer and people kill so; a program does not do it to itself.
        return "error", "the service was killed from outside (signal 9) and its logs show no fault: look at dmesg"
    if stalled:
        return "fault:stalled", "its logs show no first scene"
    if code is not None:
        return "fault:crash", f"the service ended with code {code}, its logs show no first scene"
    return "fault:request-failed", "the service lives, its logs show no first scene"


def _ended(running: Service, settle: float) -> int | None:
    """Its exit code; a service takes a moment to fall, and its log to be written."""
    limit = time.monotonic() + settle
    while running.exit_code is None and time.monotonic() < limit:
        time.sleep(0.05)
    return running.exit_code


def not_started(setup: Setup, begun: Round, error: TargetError) -> Round:
    """A service that never was healthy says nothing about load: ERROR, with what its logs say came first."""
    found, whole = first_fault.first(logs(setup))
    setup.keep("triage.json", whole)
    facts = {"observed": "error", "why": f"{error.what}: {error.why}"[:2000], "scene": found, "complete": True}
    return begun.model_copy(update=facts)


def logs(setup: Setup) -> list[Path]:
    return [setup.folder / "service.log", *([setup.logs] if setup.logs else [])]
