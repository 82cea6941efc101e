"""Trials of causes: with one picked first (or, on the release's side, taken back), does the fix land?

Only what a trial has shown is said to help; the rest is "related only".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from backproof.core.errors import HostError
from backproof.history.conflict_hunks import count_conflicts
from backproof.history.picks import Change, is_landing
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.causes import Cause
    from backproof.history.divergence import Divergence
    from backproof.history.picks import Drop, PickResult


class TrialVerdict(StrEnum):
    """The result of a trial, best first."""

    MAKES_CLEAN = "picking it first makes this clean"
    HUNKS_DO = "its hunks in the conflicting files alone do"
    SOME_HUNKS = "some of its hunks in the conflicting files do"
    TAKEN_BACK = "without it this is clean"
    PICKED_HELPS = "picking it first solves some files"
    HUNKS_HELP = "its hunks in the conflicting files solve some files"
    TAKEN_BACK_HELPS = "without it some files are clean"
    FEWER = "with it some conflicts go away"
    RELATED = "related only"


PICKED = frozenset({TrialVerdict.MAKES_CLEAN, TrialVerdict.HUNKS_DO})
"""The ways on: what is taken first, and then the fix lands."""
WHOLE = PICKED | {TrialVerdict.TAKEN_BACK}
_RELATED = TrialVerdict.RELATED


@dataclass(frozen=True, kw_only=True, slots=True)
class Trial:
    """A change that is made before the fix: `way` is how, `verdict` what came of it."""

    cause: Cause
    way: TrialVerdict
    change: Change
    verdict: TrialVerdict = TrialVerdict.RELATED
    solves: tuple[str, ...] = ()
    removes: tuple[int, int] = (0, 0)
    landed: PickResult | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TriedCauses:
    """The causes with their verdicts, best first, and those whose change the release has."""

    trials: tuple[Trial, ...]
    present: tuple[Cause, ...] = ()


def try_causes(
    divergence: Divergence, causes: Sequence[Cause], pick: PickResult, onto: str, *, drop: Drop, limit: int
) -> TriedCauses:
    """Try each cause alone; causes whose change the release has already are set aside."""
    trials = [trial for cause in causes for trial in make_trials(divergence, cause, pick)]
    results = divergence.picker.pick_all([(trial.change, onto) for trial in trials], drop=drop)
    pairs = list(zip(trials, results, strict=True))
    present = {trial.cause.commit.sha for trial, result in pairs if _is_present(trial, result)}
    usable = [(trial, result) for trial, result in pairs if trial.cause.commit.sha not in present]
    landed = [(trial, result) for trial, result in usable if result.tree not in {None, onto}]
    judged = _judge_all(divergence, landed, pick, drop)
    best = [_choose_best(cause, judged) for cause in causes if cause.commit.sha not in present]
    best.sort(key=lambda trial: (trial.verdict not in WHOLE, trial.cause.weak and trial.verdict is _RELATED))
    return TriedCauses(
        trials=tuple(best[:limit]),
        present=tuple(cause for cause in causes if cause.commit.sha in present),
    )


def _is_present(trial: Trial, result: PickResult) -> bool:
    nothing = {PickOutcome.ALREADY_THERE, PickOutcome.EMPTY}
    return trial.way is TrialVerdict.MAKES_CLEAN and result.outcome in nothing


def _judge_all(
    divergence: Divergence, landed: Sequence[tuple[Trial, PickResult]], pick: PickResult, drop: Drop
) -> list[Trial]:
    fix = divergence.picker.read_change(divergence.fix)
    results = divergence.picker.pick_all([(fix, str(done.tree)) for _, done in landed], drop=drop)
    before = count_conflicts(divergence.picker, pick)
    return [
        _judge_trial(divergence, trial, before_fix, with_fix, pick=pick, before=before)
        for (trial, before_fix), with_fix in zip(landed, results, strict=True)
    ]


def make_trials(divergence: Divergence, cause: Cause, pick: PickResult) -> list[Trial]:
    """Return the ways to take a cause first, the whole before its part; the release's own are taken back."""
    try:
        change = divergence.picker.read_change(cause.commit.sha)
    except (HostError, ValueError):
        return []
    if cause.side == "release":
        back = Change(before=change.after, after=change.before)
        return [Trial(cause=cause, way=TrialVerdict.TAKEN_BACK, change=back)]
    part = restrict_change(divergence, change, frozenset(conflict.path for conflict in pick.real_conflicts))
    whole = Trial(cause=cause, way=TrialVerdict.MAKES_CLEAN, change=change)
    return [whole] if part is None else [whole, Trial(cause=cause, way=TrialVerdict.HUNKS_DO, change=part)]


def restrict_change(divergence: Divergence, change: Change, paths: frozenset[str]) -> Change | None:
    """Return the part of a change that lies in some paths; None where that is all of it, or nothing."""
    differing = divergence.picker.objects.diff_trees(change.before, change.after)
    inside = {path: new for path, (_, new) in differing.items() if path in paths}
    if not inside or len(inside) == len(differing):
        return None
    return Change(before=change.before, after=divergence.picker.objects.edit_tree(change.before, inside))


_PARTLY = {
    TrialVerdict.MAKES_CLEAN: TrialVerdict.PICKED_HELPS,
    TrialVerdict.HUNKS_DO: TrialVerdict.HUNKS_HELP,
    TrialVerdict.TAKEN_BACK: TrialVerdict.TAKEN_BACK_HELPS,
}


def _judge_trial(
    divergence: Divergence, trial: Trial, first: PickResult, second: PickResult, *, pick: PickResult, before: int
) -> Trial:
    wrong = {conflict.path for conflict in pick.real_conflicts}
    left = {conflict.path for conflict in second.real_conflicts}
    verdict, removes = TrialVerdict.RELATED, (0, before)
    # "Empty" afterwards would mean that the step brought the fix itself: that explains nothing.
    if is_landing(second):
        verdict, removes = trial.way, (before, before)
    elif second.outcome is PickOutcome.CONFLICT and left <= wrong:
        gone = before - count_conflicts(divergence.picker, second)
        verdict = _PARTLY[trial.way] if left < wrong else TrialVerdict.FEWER if gone > 0 else TrialVerdict.RELATED
        removes = (max(0, gone), before)
    solves = () if verdict in {TrialVerdict.RELATED, TrialVerdict.FEWER} else tuple(sorted(wrong - left))
    return replace(trial, verdict=verdict, solves=solves, removes=removes, landed=first)


def _choose_best(cause: Cause, judged: Sequence[Trial]) -> Trial:
    own = [trial for trial in judged if trial.cause.commit.sha == cause.commit.sha]
    ranks = list(TrialVerdict)
    return min(
        own,
        key=lambda trial: ranks.index(trial.verdict),
        default=Trial(cause=cause, way=TrialVerdict.RELATED, change=Change(before="", after="")),
    )
