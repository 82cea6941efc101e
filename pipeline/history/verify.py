"""Puts a cause to the test: with it picked first (or, on the release's side, taken back), does the fix land?

Only what a simulation has shown is said to help; the rest is "related only".
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pipeline.errors import HostError
from pipeline.history.simulate import Change, Landing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.history.causes import Cause
    from pipeline.history.ground import Ground
    from pipeline.history.simulate import Drop, Simulation


class Verdict(StrEnum):
    """What a simulation has shown of a cause, best first."""

    MAKES_CLEAN = "picking it first makes this clean"
    HUNKS_DO = "its hunks in the conflicting files alone do"
    TAKEN_BACK = "without it this is clean"
    PICKED_HELPS = "picking it first solves some files"
    HUNKS_HELP = "its hunks in the conflicting files solve some files"
    TAKEN_BACK_HELPS = "without it some files are clean"
    RELATED = "related only"


WHOLE = frozenset({Verdict.MAKES_CLEAN, Verdict.HUNKS_DO, Verdict.TAKEN_BACK})


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One change that is made before the fix."""

    cause: Cause
    verdict: Verdict
    change: Change
    solves: tuple[str, ...] = ()
    landed: Simulation | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """The causes with their verdicts, and the smallest set found that makes the fix land when none does alone."""

    steps: tuple[Step, ...]
    together: tuple[Step, ...] = ()
    there: tuple[Cause, ...] = ()

    @property
    def clean(self) -> bool:
        return bool(self.together) or any(step.verdict in WHOLE for step in self.steps)


def verify(
    ground: Ground, causes: Sequence[Cause], simulation: Simulation, onto: str, *, drop: Drop, most: int
) -> Verified:
    """Try each cause alone, then the helpful ones together; causes whose change the release has already are set aside."""
    fix = ground.simulator.change(ground.fix)
    trials = [step for cause in causes for step in _trials(ground, cause, simulation)]
    first = ground.simulator.apply([(step.change, onto) for step in trials], drop=drop)
    there = {
        step.cause.commit.sha
        for step, done in zip(trials, first, strict=True)
        if step.verdict is Verdict.MAKES_CLEAN and done.landing in {Landing.ALREADY_THERE, Landing.EMPTY}
    }
    landed = [
        (step, done)
        for step, done in zip(trials, first, strict=True)
        if done.tree is not None and done.tree != onto and step.cause.commit.sha not in there
    ]
    second = ground.simulator.apply([(fix, str(done.tree)) for _, done in landed], drop=drop)
    judged = [_judged(step, one, two, simulation) for (step, one), two in zip(landed, second, strict=True)]
    shown = [cause for cause in causes if cause.commit.sha not in there]
    steps = [_best(cause, judged) for cause in shown]
    steps.sort(key=lambda step: step.verdict not in WHOLE)
    alone = any(step.verdict in WHOLE for step in steps)
    usable = [s for s in trials if s.cause.side == "main" and s.cause.commit.sha not in there]
    together = () if alone else _together(ground, usable, fix, onto, drop)
    return Verified(
        steps=tuple(steps[:most]),
        together=together,
        there=tuple(cause for cause in causes if cause.commit.sha in there),
    )


def _trials(ground: Ground, cause: Cause, simulation: Simulation) -> list[Step]:
    try:
        change = ground.simulator.change(cause.commit.sha)
    except (HostError, ValueError):
        return []
    if cause.side == "release":
        back = Change(before=change.after, after=change.before)
        return [Step(cause=cause, verdict=Verdict.TAKEN_BACK, change=back)]
    part = restricted(ground, change, frozenset(clash.path for clash in simulation.real))
    whole = Step(cause=cause, verdict=Verdict.MAKES_CLEAN, change=change)
    return [whole] if part is None else [whole, Step(cause=cause, verdict=Verdict.HUNKS_DO, change=part)]


def restricted(ground: Ground, change: Change, paths: frozenset[str]) -> Change | None:
    """The part of a change that lies in some paths; None where that is all of it, or nothing."""
    differing = ground.simulator.differing(change.before, change.after)
    inside = {path: new for path, (_, new) in differing.items() if path in paths}
    if not inside or len(inside) == len(differing):
        return None
    return Change(before=change.before, after=ground.simulator.objects.edited(change.before, inside))


_PARTLY = {
    Verdict.MAKES_CLEAN: Verdict.PICKED_HELPS,
    Verdict.HUNKS_DO: Verdict.HUNKS_HELP,
    Verdict.TAKEN_BACK: Verdict.TAKEN_BACK_HELPS,
}


def _judged(step: Step, first: Simulation, second: Simulation, simulation: Simulation) -> Step:
    before = {clash.path for clash in simulation.real}
    after = {clash.path for clash in second.real}
    # "Empty" afterwards would mean that the step brought the fix itself: that explains nothing.
    if second.landing in {Landing.CLEAN, Landing.CLEAN_AFTER_DROPS}:
        verdict = step.verdict
    elif second.landing is Landing.CONFLICT and after < before:
        verdict = _PARTLY[step.verdict]
    else:
        verdict = Verdict.RELATED
    solves = tuple(sorted(before - after)) if verdict is not Verdict.RELATED else ()
    return Step(cause=step.cause, verdict=verdict, change=step.change, solves=solves, landed=first)


def _best(cause: Cause, judged: Sequence[Step]) -> Step:
    mine = [step for step in judged if step.cause.commit.sha == cause.commit.sha]
    ranks = list(Verdict)
    return min(
        mine,
        key=lambda step: ranks.index(step.verdict),
        default=Step(cause=cause, verdict=Verdict.RELATED, change=Change(before="", after="")),
    )


def _together(ground: Ground, trials: Sequence[Step], fix: Change, onto: str, drop: Drop) -> tuple[Step, ...]:
    """Several causes in the order of history, each whole or, where that conflicts, its part in the files concerned."""
    tried: dict[str, list[Step]] = {}
    for step in trials:
        tried.setdefault(step.cause.commit.sha, []).append(step)
    ordered = [tried[sha] for sha in _oldest_first(ground, frozenset(tried))]
    laid = _laid(ground, ordered, fix, onto, drop) or _laid(ground, [each[::-1] for each in ordered], fix, onto, drop)
    return _pruned(ground, laid, fix, onto, drop)


def _pruned(ground: Ground, taken: tuple[Step, ...], fix: Change, onto: str, drop: Drop) -> tuple[Step, ...]:
    """The smallest set: what can be left out was no cause."""
    for step in taken:
        rest = [[each] for each in taken if each is not step]
        fewer = _laid(ground, rest, fix, onto, drop) if len(rest) > 1 else ()
        if fewer:
            return _pruned(ground, fewer, fix, onto, drop)
    return taken


def _laid(ground: Ground, ordered: Sequence[Sequence[Step]], fix: Change, onto: str, drop: Drop) -> tuple[Step, ...]:
    """The steps that land one on the other, when the fix lands on them; else none."""
    tree, taken = onto, list[Step]()
    for choices in ordered:
        landed = next(filter(None, (_first_landing(ground, step, tree, drop) for step in choices)), None)
        if landed is not None and landed.landed is not None:
            taken.append(landed)
            tree = str(landed.landed.tree)
    if len(taken) < 2:
        return ()
    last = ground.simulator.apply([(fix, tree)], drop=drop)[0]
    return tuple(taken) if last.landing in {Landing.CLEAN, Landing.CLEAN_AFTER_DROPS} else ()


def _oldest_first(ground: Ground, wanted: frozenset[str]) -> list[str]:
    return [each.sha for each in ground.main_log((), "--topo-order", "--reverse") if each.sha in wanted]


def _first_landing(ground: Ground, step: Step, tree: str, drop: Drop) -> Step | None:
    done = ground.simulator.apply([(step.change, tree)], drop=drop)[0]
    if done.tree is None or done.tree == tree:
        return None
    return Step(cause=step.cause, verdict=step.verdict, change=step.change, solves=step.solves, landed=done)
