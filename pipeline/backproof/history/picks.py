"""The one cherry-pick: three-way merges of git objects, without a worktree or an index, in milliseconds.

The release's tree and the fix's tree are merged over the tree of the fix's parent, which is what a cherry-pick does. The
stage `pick` writes what comes out as a commit; survey, explain, compare and reproduce only look at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from backproof.adapters.git import Merge, TreeMerger
from backproof.core.errors import HostError
from backproof.history.conflicts import Conflict, read_conflicts
from backproof.history.relations import Relations
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from backproof.adapters.git import CommitInfo, Merged, Store

    Drop = Callable[[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """The effect of a commit: from one tree to another."""

    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class PickResult:
    """The result of a pick. `tree` is what would be committed; `marked` has conflict markers where it conflicts."""

    outcome: PickOutcome
    tree: str | None = None
    marked: str | None = None
    conflicts: tuple[Conflict, ...] = ()
    dropped: tuple[str, ...] = ()
    labels: tuple[str, str] = ("", "")
    """The names of the release's and the fix's side in markers: hashes of ours, which no file holds by chance."""
    why: str = ""

    @property
    def real_conflicts(self) -> tuple[Conflict, ...]:
        """The conflicts outside the dropped paths."""
        return tuple(conflict for conflict in self.conflicts if not conflict.dropped)

    @property
    def only_in_dropped(self) -> bool:
        return bool(self.conflicts) and not self.real_conflicts


_COMPLETE = (
    "complete the clone with `git fetch --unshallow`, or `git fetch --refetch` where it is partial, and run again"
)


def keep_all(_path: str) -> bool:
    """Drop nothing."""
    return False


class Picker:
    """The picks of one store: a change is brought onto a tree."""

    def __init__(
        self, store: Store, *, say: Callable[[str], None] = lambda _: None, mainline: int | None = None
    ) -> None:
        """Open the store.

        Args:
            store: it holds all commits and trees.
            say: for people: what takes longer than it should.
            mainline: which parent of a merge commit is the main line; by default the first, for the merge of a pull request.
        """
        self.store = store
        self._mainline = mainline
        self._paths: dict[str, frozenset[str]] = {}
        self.objects = store.objects
        self._merger = TreeMerger(store, say=say)
        self._boundary = store.read_boundary()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.objects.close()

    def find_mainline(self, commit: CommitInfo) -> int | None:
        """Return which parent of a merge commit is the main line; None for other commits, and where nobody has said it."""
        if len(commit.parents) < 2:
            return None
        line = self._mainline or (1 if Relations(commit).merges_pull else None)
        return line if line is not None and line <= len(commit.parents) else None

    def find_parent(self, commit: CommitInfo) -> str | None:
        """Return the commit that a change was made on; None for a root commit, and for a merge without a main line."""
        line = self.find_mainline(commit) or (1 if len(commit.parents) == 1 else None)
        return commit.parents[line - 1] if line else None

    def read_change(self, sha: str) -> Change:
        """Return what a commit does to its parent (a root commit: to an empty tree).

        Raises:
            HostError: the parent is hidden by a shallow clone, so that every line would look like a conflict.
            ValueError: it is a merge commit, and nobody has said which parent is the main line.
        """
        commit = self.objects.read_commit(sha)
        if sha in self._boundary:
            raise hidden_parent_error(sha)
        if not commit.parents:
            return Change(before=self.objects.write_object("tree", b""), after=commit.tree)
        parent = self.find_parent(commit)
        if parent is None:
            raise ValueError(sha)
        if self.objects.find_object(parent) is None:
            raise hidden_parent_error(sha)
        return Change(before=self.objects.read_commit(parent).tree, after=commit.tree)

    def read_series_change(self, shas: Sequence[str]) -> Change:
        """Return what a series does, from before its first commit to behind its last."""
        return Change(before=self.read_change(shas[0]).before, after=self.read_change(shas[-1]).after)

    def list_paths(self, sha: str) -> frozenset[str]:
        """Return the paths that a commit changes; none where that is unknown."""
        if sha not in self._paths:
            try:
                change = self.read_change(sha)
                self._paths[sha] = frozenset(self.objects.diff_trees(change.before, change.after))
            except (HostError, ValueError):
                self._paths[sha] = frozenset()
        return self._paths[sha]

    def read_tree(self, sha: str) -> str:
        return self.objects.read_commit(sha).tree

    def pick(self, sha: str, onto: str, *, drop: Drop = keep_all) -> PickResult:
        """Pick one commit onto a tree."""
        try:
            change = self.read_change(sha)
        except ValueError:
            return PickResult(outcome=PickOutcome.MERGE_COMMIT)
        except HostError as error:
            return PickResult(outcome=PickOutcome.UNKNOWN, why=str(error))
        return self.pick_all([(change, onto)], drop=drop)[0]

    def pick_series(self, shas: Iterable[str], onto: str, *, drop: Drop = keep_all) -> list[PickResult]:
        """Pick each commit on top of the one before; the last result is the first that does not land."""
        picks: list[PickResult] = []
        for sha in shas:
            picks.append(self.pick(sha, onto, drop=drop))
            if (tree := picks[-1].tree) is None:
                break
            onto = tree
        return picks

    def pick_all(self, questions: Sequence[tuple[Change, str]], *, drop: Drop = keep_all) -> list[PickResult]:
        """Bring each change onto its tree, all in one process."""
        merges = [Merge(base=change.before, ours=onto, theirs=change.after) for change, onto in questions]
        results = self._merger.merge_trees(merges)
        return [self._make_pick(merge, merged, drop) for merge, merged in zip(merges, results, strict=True)]

    def _make_pick(self, merge: Merge, merged: Merged, drop: Drop) -> PickResult:
        if merged.tree is None:
            return PickResult(outcome=PickOutcome.UNKNOWN, why=f"git could not merge ({merged.failure}); {_COMPLETE}")
        conflicts = tuple(read_conflicts(merged, drop))
        dropped = self._find_dropped(merge, merged, drop)
        tree = None
        if any(not conflict.dropped for conflict in conflicts):
            outcome = PickOutcome.CONFLICT
        else:
            tree = self.restore_paths(merged.tree, merge.ours, dropped) if dropped else merged.tree
            outcome = self._name_outcome(merge, tree, dropped, drop)
        return PickResult(
            outcome=outcome, tree=tree, marked=merged.tree, conflicts=conflicts, dropped=dropped, labels=merged.labels
        )

    def _name_outcome(self, merge: Merge, tree: str, dropped: Sequence[str], drop: Drop) -> PickOutcome:
        if tree != merge.ours:
            return PickOutcome.CLEAN_AFTER_DROPS if dropped else PickOutcome.CLEAN
        changes_nothing = all(drop(path) for path in self.objects.diff_trees(merge.base, merge.theirs))
        return PickOutcome.EMPTY if changes_nothing else PickOutcome.ALREADY_THERE

    def _find_dropped(self, merge: Merge, merged: Merged, drop: Drop) -> tuple[str, ...]:
        if drop is keep_all or merged.tree is None:
            return ()
        changed = {path for path in self.objects.diff_trees(merge.ours, merged.tree) if drop(path)}
        return tuple(sorted(changed | {path for path in merged.unmerged if drop(path)}))

    def restore_paths(self, tree: str, original: str, paths: Iterable[str]) -> str:
        """Return the tree with some paths as another tree has them."""
        return self.objects.edit_tree(tree, {path: self.objects.find_entry(original, path) for path in paths})


def is_landing(pick: PickResult) -> bool:
    """Tell whether a pick brings something, and needs nobody."""
    return pick.outcome in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS}


def hidden_parent_error(sha: str) -> HostError:
    """Return the error for a commit without its parent: its change cannot be known."""
    return HostError(
        f"{sha[:12]}: its parent is not in the repository",
        why="the clone is shallow or incomplete, so the change of this commit is unknown",
        next_step="complete the clone (`git fetch --unshallow`, or `git fetch --deepen=50`) and run again",
    )
