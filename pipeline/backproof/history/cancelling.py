"""Commits of a pull request that together change nothing, and the smallest set that gives its code.

Every commit is taken or left, and what the trees have in common is followed once: eight commits that cancel each other
make a handful of trees, not 256.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.plural import format_all, is_or_are
from backproof.history.picks import keep_all
from backproof.history.records import CancellingRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.picks import Drop, Picker, PickResult

MOST_TREES = 256
"""Past this the trees with the fewest commits are followed: the answer may then not be the smallest."""


def find_cancelling(picker: Picker, base: str, head: str, *, drop: Drop = keep_all) -> CancellingRecord:
    """Return the commits of `base..head` (merges aside) that can be left out."""
    commits = picker.store.list_commits(base, head)
    goal = _restore_dropped(picker, picker.read_tree(head), picker.read_tree(base), drop)
    needed = _find_smallest_set(picker, commits, picker.read_tree(base), goal, drop)
    left = () if needed is None else tuple(sha for sha in commits if sha not in needed)
    return CancellingRecord(
        base=base,
        head=head,
        commits={sha: picker.store.objects.read_commit(sha).subject for sha in commits},
        needed=commits if needed is None else needed,
        cancelling=(left,) if left else (),
        sentence=_describe(commits, needed, left),
    )


def _restore_dropped(picker: Picker, tree: str, base: str, drop: Drop) -> str:
    paths = [path for path in picker.objects.diff_trees(base, tree) if drop(path)]
    return picker.restore_paths(tree, base, paths) if paths else tree


def _find_smallest_set(
    picker: Picker, commits: Sequence[str], base: str, goal: str, drop: Drop
) -> tuple[str, ...] | None:
    """Return the fewest commits whose picks, in order, give the tree `goal`; None where picks do not give it."""
    reached: dict[str, tuple[str, ...]] = {base: ()}
    for sha in commits:
        change = picker.read_change(sha)
        trees = list(reached)
        picks: list[PickResult] = picker.pick_all([(change, tree) for tree in trees], drop=drop)
        for tree, pick in zip(trees, picks, strict=True):
            if pick.tree is None:
                continue
            taken = (*reached[tree], sha)
            if len(taken) < len(reached.get(pick.tree, commits)) or pick.tree not in reached:
                reached[pick.tree] = taken
        reached = dict(sorted(reached.items(), key=lambda item: len(item[1]))[:MOST_TREES])
    return reached.get(goal)


def _describe(commits: Sequence[str], needed: tuple[str, ...] | None, left: Sequence[str]) -> str:
    if needed is None:
        return "picking these commits one by one does not give the tree of the last: a merge among them changed files"
    if not left:
        return f"{format_all(len(commits), 'commit')} {is_or_are(len(commits))} needed"
    names = ", ".join(sha[:12] for sha in left)
    return f"{names} together change nothing: {len(needed)} of {len(commits)} commits give the same tree"
