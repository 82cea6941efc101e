"""The one door to git: the user's repository is read, all work happens in a store of ours."""

from pipeline.adapters.git.builder import Builder
from pipeline.adapters.git.merging import Merge, Merged, Merger
from pipeline.adapters.git.objects import Entry, Objects
from pipeline.adapters.git.source import Source
from pipeline.adapters.git.store import CommitInfo, Store
from pipeline.adapters.git.worktree import PickAttempt, Worktree

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
