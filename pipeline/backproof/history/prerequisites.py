"""Several commits of main that, taken first, make a fix land: those that were named, else the hunks that its lines rest on.

A change is taken whole or, where that conflicts, its part in the files in conflict. Only what a trial has shown is returned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backproof.history.missing_hunks import find_missing_hunks
from backproof.history.picks import is_landing
from backproof.history.try_causes import make_trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.causes import Cause
    from backproof.history.divergence import Divergence
    from backproof.history.picks import Drop, PickResult
    from backproof.history.try_causes import Trial

    Choices = Sequence[Sequence[Trial]]
    """For each commit, oldest first, the ways to take it in the order in which they are tried."""

_PRUNED = 6
"""As many are tried without each one: every trial takes some ten milliseconds a commit."""


def find_prerequisites(
    divergence: Divergence, causes: Sequence[Cause], pick: PickResult, onto: str, *, drop: Drop
) -> tuple[Trial, ...]:
    """Return commits that make the fix land together, in order; none where none were found.

    Args:
        divergence: what the fix stands on, and the release.
        causes: the named ones that the release lacks.
        pick: the pick that conflicts.
        onto: the release's tree.
        drop: paths that are left out.
    """
    search = _Search(divergence, onto, drop)
    lacking = {cause.commit.sha: cause for cause in causes if cause.side == "main"}
    ordered = [make_trials(divergence, lacking[sha], pick) for sha in divergence.sort_oldest_first(lacking)]
    landing = search.lay(ordered) or search.lay([choices[::-1] for choices in ordered])
    return search.prune(landing) or find_missing_hunks(divergence, pick, onto, drop=drop)


class _Search:
    """Trials of one fix on one tree."""

    def __init__(self, divergence: Divergence, onto: str, drop: Drop) -> None:
        self._picker = divergence.picker
        self._fix = divergence.fix
        self._onto = onto
        self._drop = drop

    def lay(self, ordered: Choices) -> tuple[Trial, ...]:
        """Return the trials that land one on the other, when the fix lands on them; else none."""
        tree = self._onto
        taken: list[Trial] = []
        for choices in ordered:
            for trial in choices:
                done = self._picker.pick_all([(trial.change, tree)], drop=self._drop)[0]
                if done.tree not in {None, tree}:
                    taken.append(replace(trial, landed=done))
                    tree = str(done.tree)
                    break
        landed = bool(taken) and is_landing(self._picker.pick(self._fix, tree, drop=self._drop))
        return tuple(taken) if landed else ()

    def prune(self, taken: tuple[Trial, ...]) -> tuple[Trial, ...]:
        """Return the smallest set: what can be left out was no cause."""
        for trial in taken if 1 < len(taken) <= _PRUNED else ():
            if fewer := self.lay([[other] for other in taken if other is not trial]):
                return self.prune(fewer)
        return taken
