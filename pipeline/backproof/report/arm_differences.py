"""What the arms show beside each other: where a fix-up changes something observable, and where it does not. No I/O.

A proof invites more than it shows. Red on base and green on fixed says nothing yet about what each part of the backport
is for; two arms that show the same under a model say that the difference between them is not observable there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backproof.core.model import Arm
from backproof.core.plain_text import cut_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.core.model import Evidence
    from backproof.records.proof import Case

_SHOWN = 6
INNER = "inner_"
"""An observation of this name is about memory that the caller never sees: a difference there is not observable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """One sentence about cases, and what it rests on."""

    text: str
    evidence: tuple[Evidence, ...]


def list_remarks(cases: Iterable[Case], *, fixups: tuple[str, ...]) -> tuple[Remark, ...]:
    """What the fix-ups change under each check and model, then what stays red with the backport."""
    cases = tuple(cases)
    remarks = _differences(cases, ", ".join(fixups)) if fixups else []
    return (*remarks, *(_remains(each) for each in cases if _is_limit(each)))


def _is_limit(case: Case) -> bool:
    return case.role == "limit" and case.arm is Arm.FIXED and case.observed != "pass"


def _differences(cases: tuple[Case, ...], fixups: str) -> list[Remark]:
    """One remark per difference: pairs that differ in the same way share it."""
    by = {(each.check, each.model, each.arm): each for each in cases}
    groups: dict[tuple[str, str], list[tuple[Case, Case]]] = {}
    for check, model in dict.fromkeys((each.check, each.model) for each in cases):
        pick, fixed = by.get((check, model, Arm.PICK)), by.get((check, model, Arm.FIXED))
        if pick and fixed and "error" not in {pick.verdict, fixed.verdict}:
            groups.setdefault((check, _difference(pick, fixed, fixups)), []).append((pick, fixed))
    return [_shared(check, text, pairs) for (check, text), pairs in groups.items()]


def _shared(check: str, text: str, pairs: list[tuple[Case, Case]]) -> Remark:
    models = ", ".join(pick.model for pick, _ in pairs)
    evidence = tuple(each for pair in pairs for case in pair for each in case.evidence)
    return Remark(text=f"{check} under {models}: {text}", evidence=evidence)


def _difference(pick: Case, fixed: Case, fixups: str) -> str:
    outcome, seen = _changes(_outcome(pick), _outcome(fixed)), _changes(_seen(pick), _seen(fixed))
    inner = _changes(_seen(pick, inner=True), _seen(fixed, inner=True))
    if outcome or seen:
        same = "" if outcome else "the same outcome with and without it; "
        return f"{same}the fix-up {fixups} changes {_listed([*outcome, *seen])}"
    if inner:
        return f"the fix-up {fixups} changes nothing observable here; inside, it changes {_listed(inner)}"
    return f"pick and fixed show the same; the fix-up {fixups} changes nothing observable here"


def _listed(changes: list[str]) -> str:
    more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    return f"{'; '.join(changes[:_SHOWN])}{more}"


def _remains(case: Case) -> Remark:
    text = f"{case.check} under {case.model}: still {case.observed} with the whole backport, a limit that the plan declares"
    seen = ", ".join(f"{key} {value}" for key, value in list(flatten(case.observations))[:_SHOWN])
    return Remark(
        text=f"{text}{f'; first: {cut_text(case.first, 200)}' if case.first else ''}{f' (observed: {seen})' if seen else ''}",
        evidence=case.evidence,
    )


def _changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    keys = dict.fromkeys((*before, *after))
    return [
        f"{key}: {before.get(key, 'none')} → {after.get(key, 'none')}"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _outcome(case: Case) -> dict[str, str]:
    told = {"observed": case.observed, "failed steps": f"{case.steps_failed} of {case.steps}"}
    return told | dict(flatten(case.faults, "fault"))


def _seen(case: Case, *, inner: bool = False) -> dict[str, str]:
    found = {key: value for key, value in flatten(case.observations) if key.startswith(INNER) is inner}
    return {key.removeprefix(INNER): value for key, value in found.items()}


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """The leaves of nested observations, each with its dotted name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(str(each) for each in value[:_SHOWN]) + (", …" if len(value) > _SHOWN else "")
    else:
        yield name, str(value)
