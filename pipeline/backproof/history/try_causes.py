"""Puts a cause to the test: with it picked first (or, on the release's side, taken back), does the fix land?

Only what a simulation has shown is said to help; the rest is "related only".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from backproof.core.errors import HostError
from backproof.history.conflict_hunks import count_conflicts
from backproof.history.picks import Change
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.causes import Cause
    from backproof.history.divergence import Ground
    from backproof.history.picks import Drop, Simulation


class Verdict(StrEnum):
    """What a simulation has shown of a cause, best first."""

    MAKES_CLEAN = "picking it first makes this clean"
    HUNKS_DO = "its hunks in the conflicting files alone do"
    TAKEN_BACK = "without it this is clean"
    PICKED_HELPS = "picking it first solves some files"
    HUNKS_HELP = "its hunks in the conflicting files solve some files"
    TAKEN_BACK_HELPS = "without it some files are clean"
    FEWER = "with it some conflicts go away"
    RELATED = "related only"


WHOLE = frozenset({Verdict.MAKES_CLEAN, Verdict.HUNKS_DO, Verdict.TAKEN_BACK})


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One change that is made before the fix: `way` is how, `verdict` what came of it."""

    cause: Cause
    way: Verdict
    change: Change
    verdict: Verdict = Verdict.RELATED
    solves: tuple[str, ...] = ()
    removes: tuple[int, int] = (0, 0)
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
    """Try each cause alone, then several together; causes whose change the release has already are set aside."""
    trials = [step for cause in causes for step in _trials(ground, cause, simulation)]
    first = ground.simulator.apply([(step.change, onto) for step in trials], drop=drop)
    there = {
        step.cause.commit.sha
        for step, done in zip(trials, first, strict=True)
        if step.way is Verdict.MAKES_CLEAN and done.landing in {PickOutcome.ALREADY_THERE, PickOutcome.EMPTY}
    }
    usable = [(s, d) for s, d in zip(trials, first, strict=True) if s.cause.commit.sha not in there]
    landed = [(step, done) for step, done in usable if done.tree is not None and done.tree != onto]
    judged = _judge_all(ground, landed, simulation, drop)
    steps = [_best(cause, judged) for cause in causes if cause.commit.sha not in there]
    steps.sort(key=lambda step: (step.verdict not in WHOLE, step.cause.weak and step.verdict is Verdict.RELATED))
    alone = any(step.verdict in WHOLE for step in steps)
    several = () if alone else _together(ground, [step for step, _ in usable if step.cause.side == "main"], onto, drop)
    return Verified(
        steps=tuple(steps[:most]),
        together=several,
        there=tuple(cause for cause in causes if cause.commit.sha in there),
    )


def _judge_all(
    ground: Ground, landed: Sequence[tuple[Step, Simulation]], simulation: Simulation, drop: Drop
) -> list[Step]:
    fix = ground.simulator.change(ground.fix)
    second = ground.simulator.apply([(fix, str(done.tree)) for _, done in landed], drop=drop)
    before = count_conflicts(ground.simulator, simulation)
    return [
        _judged(ground, step, one, two, simulation=simulation, before=before)
        for (step, one), two in zip(landed, second, strict=True)
    ]


def _trials(ground: Ground, cause: Cause, simulation: Simulation) -> list[Step]:
    try:
        change = ground.simulator.change(cause.commit.sha)
    except (HostError, ValueError):
        return []
    if cause.side == "release":
        back = Change(before=change.after, after=change.before)
        return [Step(cause=cause, way=Verdict.TAKEN_BACK, change=back)]
    part = restricted(ground, change, frozenset(clash.path for clash in simulation.real))
    whole = Step(cause=cause, way=Verdict.MAKES_CLEAN, change=change)
    return [whole] if part is None else [whole, Step(cause=cause, way=Verdict.HUNKS_DO, change=part)]


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


def _judged(
    ground: Ground, step: Step, first: Simulation, second: Simulation, *, simulation: Simulation, before: int
) -> Step:
    wrong = {clash.path for clash in simulation.real}
    left = {clash.path for clash in second.real}
    verdict, removes = Verdict.RELATED, (0, before)
    # "Empty" afterwards would mean that the step brought the fix itself: that explains nothing.
    if second.landing in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS}:
        verdict, removes = step.way, (before, before)
    elif second.landing is PickOutcome.CONFLICT and left <= wrong:
        gone = before - count_conflicts(ground.simulator, second)
        verdict = _PARTLY[step.way] if left < wrong else Verdict.FEWER if gone > 0 else Verdict.RELATED
        removes = (max(0, gone), before)
    solves = () if verdict in {Verdict.RELATED, Verdict.FEWER} else tuple(sorted(wrong - left))
    return replace(step, verdict=verdict, solves=solves, removes=removes, landed=first)


def _best(cause: Cause, judged: Sequence[Step]) -> Step:
    mine = [step for step in judged if step.cause.commit.sha == cause.commit.sha]
    ranks = list(Verdict)
    return min(
        mine,
        key=lambda step: ranks.index(step.verdict),
        default=Step(cause=cause, way=Verdict.RELATED, change=Change(before="", after="")),
    )


def _together(ground: Ground, trials: Sequence[Step], onto: str, drop: Drop) -> tuple[Step, ...]:
    """Several causes in the order of history, each whole or, where that conflicts, its part in the files concerned."""
    tried: dict[str, list[Step]] = {}
    for step in trials:
        tried.setdefault(step.cause.commit.sha, []).append(step)
    ordered = [tried[sha] for sha in _oldest_first(ground, frozenset(tried))]
    laid = _laid(ground, ordered, onto, drop) or _laid(ground, [each[::-1] for each in ordered], onto, drop)
    return _pruned(ground, laid, onto, drop)


def _pruned(ground: Ground, taken: tuple[Step, ...], onto: str, drop: Drop) -> tuple[Step, ...]:
    """The smallest set: what can be left out was no cause."""
    for step in taken:
        rest = [[each] for each in taken if each is not step]
        fewer = _laid(ground, rest, onto, drop) if len(rest) > 1 else ()
        if fewer:
            return _pruned(ground, fewer, onto, drop)
    return taken


def _laid(ground: Ground, ordered: Sequence[Sequence[Step]], onto: str, drop: Drop) -> tuple[Step, ...]:
    """The steps that land one on the other, when the fix lands on them; else none."""
    tree, taken = onto, list[Step]()
    for choices in ordered:
        landed = next(filter(None, (_first_landing(ground, step, tree, drop) for step in choices)), None)
        if landed is not None and landed.landed is not None:
            taken.append(landed)
            tree = str(landed.landed.tree)
    if len(taken) < 2:
        return ()
    last = ground.simulator.pick(ground.fix, tree, drop=drop)
    return tuple(taken) if last.landing in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS} else ()


def _oldest_first(ground: Ground, wanted: frozenset[str]) -> list[str]:
    return [each.sha for each in ground.main_log((), "--topo-order", "--reverse") if each.sha in wanted]


def _first_landing(ground: Ground, step: Step, tree: str, drop: Drop) -> Step | None:
    done = ground.simulator.apply([(step.change, tree)], drop=drop)[0]
    if done.tree is None or done.tree == tree:
        return None
    return replace(step, landed=done)
