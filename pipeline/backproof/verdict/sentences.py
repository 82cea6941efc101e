"""The sentences of a verdict. FAIL and ERROR never share words; words of hardware are reached from level 3 only."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from backproof.core.level import Level
from backproof.core.model import Outcome
from backproof.core.plural import format_count
from backproof.devices import DEVICES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.proof import Case

LEVEL_NAMES = {
    Level.PICKED: "picked",
    Level.LOADED: "loaded",
    Level.EMULATED: "emulated",
    Level.DEVICE: "device checks",
    Level.SERVED: "served under load",
}
HEADLINES = {
    Outcome.PASS: "PASS",
    Outcome.SKIP: "NOTHING RAN: no verdict",
    Outcome.ABORTED: "STOPPED before a verdict",
    Outcome.INCONCLUSIVE: "INCONCLUSIVE: what ran decides nothing",
    Outcome.RUNNING: "UNFINISHED: no verdict yet",
    Outcome.ERROR: "ERROR: no verdict, we could not tell",
    Outcome.PERSON: "A PERSON IS NEEDED: no verdict yet",
    Outcome.FAIL: "FAIL: the backport does not hold",
}
TRIAGE_HEADLINES = {
    "first-fault": ("First fault found", "fail"),
    "only-secondary": ("Only secondary errors: the cause is not in these files", "inconclusive"),
    "errors": ("Errors, and no first fault among them", "inconclusive"),
    "healthy": ("No failure found", "pass"),
    "unread": ("Unknown: not everything could be read", "error"),
}
"""The heading of each outcome of a triage, and the tone in which it is shown."""
NOTHING_ELSE = {
    Outcome.PASS: "",
    Outcome.SKIP: "no stage ran",
    Outcome.ABORTED: "no stage ran to its end",
    Outcome.INCONCLUSIVE: "no proof is red without the backport and green with it",
    Outcome.RUNNING: "the command has not finished",
    Outcome.ERROR: "nothing ran, or its evidence is missing or altered",
    Outcome.PERSON: "see the stages",
    Outcome.FAIL: "see the stages",
}
_NOT_LANDED = "PASS of the stages that ran; no level is reached: nothing was picked"
_PASSES = {
    Level.PICKED: "the backport lands on {place}; nothing of it was loaded or run",
    Level.LOADED: "the target loads, whole, what was picked on {place}; no check was judged",
    Level.EMULATED: "{proofs} on {place} red without the backport and green with it, {where}; not run on a device",
    Level.DEVICE: "{proofs} on {place} red without the backport and green with it, on the device itself",
    Level.SERVED: "{proofs} on {place} red without the backport and green with it, on the device itself and under load",
}
_UNSHOWN = (
    "{proofs} on {place} red without the backport and green with it, {where}; "
    "nothing shows which device that was: there is no inventory of it from the same host and boot"
)


def level_names(device: str) -> dict[Level, str]:
    """Return the names of the levels of a run on that device, which has a name of its own for its level."""
    known = DEVICES.get(device)
    return {**LEVEL_NAMES, known.LEVEL: known.WORDS.level["en"]} if known else LEVEL_NAMES


def pass_sentence(level: Level | None, *, place: str, device: str, proofs: int, limits: int) -> str:
    """Return the verdict of a run that passed: how far it reaches is part of the sentence."""
    if level is None:
        return f"{_NOT_LANDED}."
    form = _UNSHOWN if level is Level.LOADED and proofs else _PASSES[level]
    where = DEVICES[device].WORDS.where if device in DEVICES else f"on {device}"
    said = form.format(place=place, proofs=format_count(proofs, "proof"), where=where)
    tail = f". {format_count(limits, 'declared limit')} stay{'s' if limits == 1 else ''} red with it" if limits else ""
    return f"PASS at level {int(level)} ({level_names(device)[level]}): {said}{tail}."


def other_sentence(outcome: Outcome, cause: str) -> str:
    """The verdict of a run that did not pass, with what decided it."""
    return f"{HEADLINES[outcome]}. {cause.rstrip('.')}." if cause else f"{HEADLINES[outcome]}."


def case_sentence(case: Case) -> str:
    """The judge's sentence, which names check, model and arm, and the first thing that went wrong."""
    return f"{case.sentence}; first: {case.first}" if case.first else case.sentence


def arm_sentence(cases: Sequence[Case], red: Sequence[Case]) -> str:
    """What one arm showed, counted; what the plan expects to be red still, and limits that it declares, are called so."""
    said = _colour(cases, red)
    known = {id(item) for item in red}  # equality would compare every case with every other
    planned = [
        case for case in cases if case.observed != "pass" and case.verdict == "as-expected" and id(case) not in known
    ]
    fixups = sum(item.role == "proof" for item in planned)
    limits = sum(item.role == "limit" for item in planned)
    said += [f"{format_count(fixups, 'proof')} of a fix-up red"] if fixups else []
    said += [f"{format_count(limits, 'declared limit')} red"] if limits else []
    other = [case for case in cases if case.verdict != "as-expected"]
    return "; ".join([*said, "as the plan expects" if not other else _not_expected(other)])


def _colour(cases: Sequence[Case], red: Sequence[Case]) -> list[str]:
    """What is red, and what nobody knows the colour of: that is not called green."""
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(Counter(item.observed for item in red).items()))
    unknown = sum(case.verdict == "error" for case in cases)
    if not red and not unknown:
        return ["green in every case that must be"]
    said = f"{len(red)} of {len(cases)} cases red ({kinds})" if red else "no case red"
    return [said, f"{unknown} of {len(cases)} cases could not be told"] if unknown else [said]


def _not_expected(cases: Sequence[Case]) -> str:
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(case.verdict for case in cases).items()))
    return f"not as the plan expects: {kinds}"
