"""The boundary to git: the user's repository is only read, all work happens in a store of Backproof's own.

GitPython reads objects here, and its gitdb writes them. It does no more: it has no merge of trees, blame limited to a range,
patch ids or range-diff but by running git, and then with the caller's environment and configuration, which must not count.
"""

from backproof.adapters.git.builder import RepositoryBuilder
from backproof.adapters.git.commits import write_commit, write_pick
from backproof.adapters.git.merge_output import Merge, Merged
from backproof.adapters.git.merging import TreeMerger
from backproof.adapters.git.objects import CommitInfo, Entry
from backproof.adapters.git.source import Source
from backproof.adapters.git.store import Store

__all__ = [
    "CommitInfo",
    "Entry",
    "Merge",
    "Merged",
    "RepositoryBuilder",
    "Source",
    "Store",
    "TreeMerger",
    "write_commit",
    "write_pick",
]
