"""The paths that commits change, read once, and a whole range at once where it will be asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.log import read_touched_paths
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.history.picks import Picker

_MOST = 200
"""More paths than this make a command line too long; then all commits are listed."""


class ChangedPaths:
    """A memory of the paths that each commit changes."""

    def __init__(self, picker: Picker) -> None:
        self._picker = picker
        self._paths: dict[str, frozenset[str]] = {}

    def __call__(self, sha: str) -> frozenset[str]:
        if sha not in self._paths:
            self._paths[sha] = self._read(sha)
        return self._paths[sha]

    def _read(self, sha: str) -> frozenset[str]:
        try:
            change = self._picker.read_change(sha, mainline=1)
        except HostError:
            # Cut off by a shallow clone: the caller says that the clone is shallow.
            return frozenset()
        return frozenset(self._picker.diff_trees(change.before, change.after))

    def read_range(self, shas: Iterable[str], *revs: str, near: frozenset[str] = frozenset()) -> None:
        """Read the commits of a range at once. With `near`, those that change none of these paths count as changing none."""
        paths = tuple(sorted(near)) if len(near) <= _MOST else ()
        changed = read_touched_paths(self._picker.store, *revs, paths=paths)
        for sha in shas:
            self._paths.setdefault(sha, frozenset(changed.get(sha, ())))
