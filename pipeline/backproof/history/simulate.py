"""What a cherry-pick would give, told from git objects alone: no worktree, no index, milliseconds.

The release's tree and the fix's tree are merged over the tree of the fix's parent, which is what a cherry-pick does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Self

from backproof.adapters.git import Merge, Merger, Objects
from backproof.adapters.git.objects import TREE_MODE
from backproof.core.errors import HostError
from backproof.history.conflicts import Clash, read_clashes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from backproof.adapters.git import Entry, Merged, Store

    Drop = Callable[[str], bool]


class Landing(StrEnum):
    """How a pick ends. `UNKNOWN` is not a conflict: an object is missing, so nothing can be said."""

    CLEAN = "clean"
    CLEAN_AFTER_DROPS = "clean-after-drops"
    EMPTY = "empty"
    ALREADY_THERE = "already-there"
    MERGE_COMMIT = "merge-commit"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What a commit does: from one tree to another."""

    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Simulation:
    """One simulated pick. `tree` is what would be committed; `marked` has conflict markers where it conflicts."""

    landing: Landing
    tree: str | None = None
    marked: str | None = None
    clashes: tuple[Clash, ...] = ()
    dropped: tuple[str, ...] = ()
    why: str = ""

    @property
    def real(self) -> tuple[Clash, ...]:
        """The conflicts outside the dropped paths."""
        return tuple(each for each in self.clashes if not each.dropped)

    @property
    def only_in_dropped(self) -> bool:
        return bool(self.clashes) and not self.real

    @property
    def lands(self) -> bool:
        return self.tree is not None


_COMPLETE = (
    "complete the clone with `git fetch --unshallow`, or `git fetch --refetch` where it is partial, and run again"
)


def keep_all(_path: str) -> bool:
    """Drops nothing."""
    return False


class Simulator:
    """Simulates picks in one store."""

    def __init__(self, store: Store, *, say: Callable[[str], None] = lambda _: None) -> None:
        self.store = store
        self.objects = Objects(store.folder)
        self._merger = Merger(store, self.objects, say=say)
        self._boundary = store.boundary()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.objects.close()

    def change(self, sha: str, *, mainline: int | None = None) -> Change:
        """What a commit does against its parent (a root commit: against nothing).

        Raises:
            HostError: the parent is hidden by a shallow clone, so that every line would look like a conflict.
            ValueError: it is a merge commit and no main line is given.
        """
        commit = self.objects.commit(sha)
        if len(commit.parents) > 1 and (mainline is None or mainline > len(commit.parents)):
            raise ValueError(sha)
        if sha in self._boundary:
            raise hidden_parent(sha)
        if not commit.parents:
            return Change(before=self.objects.write("tree", b""), after=commit.tree)
        parent = commit.parents[(mainline or 1) - 1]
        if self.objects.find(parent) is None:
            raise hidden_parent(sha)
        return Change(before=self.objects.commit(parent).tree, after=commit.tree)

    def tree(self, sha: str) -> str:
        return self.objects.commit(sha).tree

    def pick(self, sha: str, onto: str, *, drop: Drop = keep_all, mainline: int | None = None) -> Simulation:
        """Pick one commit onto a tree."""
        try:
            change = self.change(sha, mainline=mainline)
        except ValueError:
            return Simulation(landing=Landing.MERGE_COMMIT)
        except HostError as error:
            return Simulation(landing=Landing.UNKNOWN, why=str(error))
        return self.apply([(change, onto)], drop=drop)[0]

    def apply(self, questions: Sequence[tuple[Change, str]], *, drop: Drop = keep_all) -> list[Simulation]:
        """Bring each change onto its tree, all in one process."""
        merges = [Merge(base=change.before, ours=onto, theirs=change.after) for change, onto in questions]
        found = self._merger.merge(merges)
        return [self._judge(merge, each, drop) for merge, each in zip(merges, found, strict=True)]

    def labels(self, change: Change, onto: str) -> tuple[str, str]:
        """The names of the release's and the fix's side in conflict markers."""
        return self._merger.commits(Merge(base=change.before, ours=onto, theirs=change.after))

    def _judge(self, merge: Merge, merged: Merged, drop: Drop) -> Simulation:
        if merged.tree is None:
            return Simulation(landing=Landing.UNKNOWN, why=f"git could not merge ({merged.failure}); {_COMPLETE}")
        clashes = tuple(read_clashes(merged, drop))
        dropped = self._dropped(merge, merged, drop)
        if any(not each.dropped for each in clashes):
            return Simulation(landing=Landing.CONFLICT, marked=merged.tree, clashes=clashes, dropped=dropped)
        tree = self.restored(merged.tree, merge.ours, dropped) if dropped else merged.tree
        if tree == merge.ours:
            landing = Landing.EMPTY if self._changes_nothing(merge, drop) else Landing.ALREADY_THERE
        else:
            landing = Landing.CLEAN_AFTER_DROPS if dropped else Landing.CLEAN
        return Simulation(landing=landing, tree=tree, marked=merged.tree, clashes=clashes, dropped=dropped)

    def _dropped(self, merge: Merge, merged: Merged, drop: Drop) -> tuple[str, ...]:
        if drop is keep_all or merged.tree is None:
            return ()
        changed = {path for path in self.differing(merge.ours, merged.tree) if drop(path)}
        return tuple(sorted(changed | {path for path in merged.unmerged if drop(path)}))

    def _changes_nothing(self, merge: Merge, drop: Drop) -> bool:
        return all(drop(path) for path in self.differing(merge.base, merge.theirs))

    def restored(self, tree: str, original: str, paths: Iterable[str]) -> str:
        """The tree with some paths as another tree has them."""
        return self.objects.edited(tree, {path: self.objects.entry(original, path) for path in paths})

    def differing(self, before: str, after: str) -> dict[str, tuple[Entry | None, Entry | None]]:
        """The paths that differ between two trees; only folders that differ are read."""
        return dict(self._walk(before, after, ""))

    def _walk(
        self, before: str | None, after: str | None, prefix: str
    ) -> Iterator[tuple[str, tuple[Entry | None, Entry | None]]]:
        left = self.objects.tree(before) if before else {}
        right = self.objects.tree(after) if after else {}
        for name in sorted({*left, *right}):
            old, new = left.get(name), right.get(name)
            if old == new:
                continue
            path = f"{prefix}{name}"
            folders = [each.oid if each and each.mode == TREE_MODE else None for each in (old, new)]
            if any(folders):
                yield from self._walk(folders[0], folders[1], f"{path}/")
            files = [None if each is None or each.mode == TREE_MODE else each for each in (old, new)]
            if any(files):
                yield path, (files[0], files[1])


def hidden_parent(sha: str) -> HostError:
    """The change of a commit cannot be told without its parent."""
    return HostError(
        f"{sha[:12]}: its parent is not in the repository",
        why="the clone is shallow or incomplete, so the change of this commit cannot be told",
        next_step="complete the clone (`git fetch --unshallow`, or `git fetch --deepen=50`) and run again",
    )
