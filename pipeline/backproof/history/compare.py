"""A landed backport against its original: the pick is made again and the trees are compared.

A difference that nothing declares is a mismatch, as in the kernel backports of NVIDIA: a person may adapt a backport,
and must say where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.log import render_range_diff
from backproof.core.errors import HostError
from backproof.history.lacking_names import find_lacking_names, list_limits
from backproof.history.picks import PickResult, keep_all
from backproof.history.records import CompareRecord
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backproof.history.picks import Drop, Picker

    Verdict = Literal["identical", "identical-after-declared", "adapted", "mismatch"]
    Amend = Callable[[str], str]

_ADAPTED = re.compile(r"(?m)^(?:Backproof-)?Adapted: (\S+)")
"""A trailer of the backport's message that names a path which a person adapted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backport:
    """The commits that landed: from the one before them to their last."""

    base: str
    head: str

    @classmethod
    def parse(cls, picker: Picker, text: str, resolve: Callable[[str], str]) -> Backport:
        """Read a commit, or a range `base..head`; `resolve` gives the full hash of a name.

        Raises:
            HostError: there is no commit before it to compare with.
        """
        first, dots, last = text.partition("..")
        head = resolve(last if dots else first)
        if dots:
            return cls(base=resolve(first), head=head)
        parents = picker.objects.read_commit(head).parents
        if not parents or head in picker.store.read_boundary():
            raise HostError(
                f"{text}: the commit before it is not in the repository",
                why="it is a root commit, or the clone is shallow",
                next_step="complete the clone with `git fetch --unshallow` and run again",
            )
        return cls(base=parents[0], head=head)


def compare_backport(
    picker: Picker,
    backport: Backport,
    originals: Sequence[str],
    *,
    drop: Drop = keep_all,
    adapted: Drop = keep_all,
    amend: Amend | None = None,
) -> CompareRecord:
    """Pick the originals onto what was there before the backport, and compare.

    Args:
        picker: of the store that holds both.
        backport: what landed.
        originals: full hashes, in order.
        drop: paths that the backport is declared to leave out.
        adapted: paths that are declared to differ.
        amend: what the declared fix-ups make of the picked tree.
    """
    base, head = picker.read_tree(backport.base), picker.read_tree(backport.head)
    picks = _pick_originals(picker, originals, base, drop)
    last = picks[-1]
    expected = last.tree or picker.restore_paths(str(last.marked), base, last.dropped)
    expected = amend(expected) if amend and last.tree else expected
    differing = picker.objects.diff_trees(expected, head)
    named = _read_declared_paths(picker, backport)
    declared = tuple(path for path in differing if drop(path) or adapted(path) or path in named)
    undeclared = tuple(path for path in differing if path not in declared)
    by_person = any(not drop(path) for path in declared)
    left_out = bool(declared or amend or any(pick.dropped for pick in picks))
    verdict = _choose_verdict(undeclared=undeclared, by_person=by_person, left_out=left_out)
    return CompareRecord(
        backport=backport.head,
        originals=tuple(originals),
        verdict=verdict,
        sentence=_describe(verdict, last, undeclared, declared),
        simulated=last.outcome,
        undeclared=undeclared,
        declared=declared,
        suspects=find_lacking_names(picker, picker.read_series_change(originals), base, head, drop=drop),
        limits=list_limits(),
        range_diff=_render_range_diffs(picker, originals, backport) if differing else "",
    )


def _pick_originals(picker: Picker, originals: Sequence[str], base: str, drop: Drop) -> list[PickResult]:
    picks = picker.pick_series(originals, base, drop=drop)
    if picks[-1].outcome in {PickOutcome.UNKNOWN, PickOutcome.MERGE_COMMIT}:
        raise HostError(
            f"{originals[len(picks) - 1][:12]}: it cannot be picked again",
            why=picks[-1].why or "it is a merge commit",
            next_step="complete the clone, or name the commits that the merge brought",
        )
    return picks


def _render_range_diffs(picker: Picker, originals: Sequence[str], backport: Backport) -> str:
    """Return the originals and what landed beside each other, for people."""
    landed = f"{backport.base}..{backport.head}"
    whole = [sha for sha in originals if picker.objects.read_commit(sha).parents]
    return "\n".join(render_range_diff(picker.store, f"{sha}^..{sha}", landed).rstrip() for sha in whole)


def _read_declared_paths(picker: Picker, backport: Backport) -> frozenset[str]:
    shas = [backport.head, *picker.store.list_commits(backport.base, backport.head)]
    return frozenset(path for sha in shas for path in _ADAPTED.findall(picker.store.objects.read_commit(sha).message))


def _choose_verdict(*, undeclared: Sequence[str], by_person: bool, left_out: bool) -> Verdict:
    if undeclared:
        return "mismatch"
    if by_person:
        return "adapted"
    return "identical-after-declared" if left_out else "identical"


def _describe(verdict: Verdict, last: PickResult, undeclared: Sequence[str], declared: Sequence[str]) -> str:
    conflicts = ", ".join(conflict.path for conflict in last.real_conflicts)
    resolved = f"; the pick conflicts there: {conflicts}" if conflicts else ""
    return {
        "identical": "the backport has the tree that a pick of the original gives",
        "identical-after-declared": "the backport has the tree that a pick gives with the declared drops and fix-ups",
        "adapted": f"the backport differs where it is declared to: {', '.join(declared[:8])}{resolved}",
        "mismatch": f"MISMATCH: nothing declares the difference in {', '.join(undeclared[:8])}{resolved}",
    }[verdict]
