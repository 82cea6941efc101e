"""The one door to git: the user's repository is read, all work happens in a store of ours."""

from backproof.adapters.git.builder import Builder
from backproof.adapters.git.merging import Merge, Merged, Merger
from backproof.adapters.git.objects import Entry, Objects
from backproof.adapters.git.source import Source
from backproof.adapters.git.store import CommitInfo, Store
from backproof.adapters.git.worktree import PickAttempt, Worktree

__all__ = [
    "Builder",
    "CommitInfo",
    "Entry",
    "Merge",
    "Merged",
    "Merger",
    "Objects",
    "PickAttempt",
    "Source",
    "Store",
    "Worktree",
]
