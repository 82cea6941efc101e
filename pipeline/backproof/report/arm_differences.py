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
    """List what the fix-ups change under each check and model, then what stays red with the backport."""
    cases = tuple(cases)
    remarks = _list_differences(cases, ", ".join(fixups)) if fixups else []
    return (*remarks, *(_describe_limit(case) for case in cases if _is_limit(case)))


def _is_limit(case: Case) -> bool:
    return case.role == "limit" and case.arm is Arm.FIXED and case.observed != "pass"


def _list_differences(cases: tuple[Case, ...], fixups: str) -> list[Remark]:
    """Make one remark per difference: pairs that differ in the same way share it."""
    by_place = {(case.check, case.model, case.arm): case for case in cases}
    groups: dict[tuple[str, str], list[tuple[Case, Case]]] = {}
    for check, model in dict.fromkeys((case.check, case.model) for case in cases):
        pick, fixed = by_place.get((check, model, Arm.PICK)), by_place.get((check, model, Arm.FIXED))
        if pick and fixed and "error" not in {pick.verdict, fixed.verdict}:
            groups.setdefault((check, _describe_difference(pick, fixed, fixups)), []).append((pick, fixed))
    return [_merge_pairs(check, text, pairs) for (check, text), pairs in groups.items()]


def _merge_pairs(check: str, text: str, pairs: list[tuple[Case, Case]]) -> Remark:
    models = ", ".join(pick.model for pick, _ in pairs)
    evidence = tuple(item for pair in pairs for case in pair for item in case.evidence)
    return Remark(text=f"{check} under {models}: {text}", evidence=evidence)


def _describe_difference(pick: Case, fixed: Case, fixups: str) -> str:
    outcome = _list_changes(_read_outcome(pick), _read_outcome(fixed))
    seen = _list_changes(_read_observations(pick), _read_observations(fixed))
    inner = _list_changes(_read_observations(pick, inner=True), _read_observations(fixed, inner=True))
    if outcome or seen:
        same = "" if outcome else "the same outcome with and without it; "
        return f"{same}the fix-up {fixups} changes {_join_changes([*outcome, *seen])}"
    if inner:
        return f"the fix-up {fixups} changes nothing observable here; inside, it changes {_join_changes(inner)}"
    return f"pick and fixed show the same; the fix-up {fixups} changes nothing observable here"


def _join_changes(changes: list[str]) -> str:
    more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    return f"{'; '.join(changes[:_SHOWN])}{more}"


def _describe_limit(case: Case) -> Remark:
    text = f"{case.check} under {case.model}: still {case.observed} with the whole backport, a limit that the plan declares"
    seen = ", ".join(f"{key} {value}" for key, value in list(flatten(case.observations))[:_SHOWN])
    return Remark(
        text=f"{text}{f'; first: {cut_text(case.first, 200)}' if case.first else ''}{f' (observed: {seen})' if seen else ''}",
        evidence=case.evidence,
    )


def _list_changes(before: dict[str, str], after: dict[str, str]) -> list[str]:
    keys = dict.fromkeys((*before, *after))
    return [
        f"{key}: {before.get(key, 'none')} → {after.get(key, 'none')}"
        for key in keys
        if before.get(key) != after.get(key)
    ]


def _read_outcome(case: Case) -> dict[str, str]:
    outcome = {"observed": case.observed, "failed steps": f"{case.steps_failed} of {case.steps}"}
    return outcome | dict(flatten(case.faults, "fault"))


def _read_observations(case: Case, *, inner: bool = False) -> dict[str, str]:
    leaves = flatten(case.observations)
    return {key.removeprefix(INNER): value for key, value in leaves if key.startswith(INNER) is inner}


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves of nested observations, each with its dotted name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flatten(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        yield name, ", ".join(str(item) for item in value[:_SHOWN]) + (", …" if len(value) > _SHOWN else "")
    else:
        yield name, str(value)
