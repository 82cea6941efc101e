"""Three-way merges of trees, many in one process, without a checkout.

`git merge-tree --write-tree` takes commits, and its `--merge-base` came only with git 2.40. Three commits of ours (the
base; the release's tree and the change's tree, both parented on the base) say the same and work from git 2.38 on (2.39 takes many).
"""

from __future__ import annotations

import functools
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.attributes import AttributeFolders
from backproof.adapters.git.command import checked, run_git
from backproof.adapters.git.merge_output import Merged, failed_merge, parse_batch
from backproof.adapters.git.old_merging import merge_in_worktree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from backproof.adapters.git.store import Store
    from backproof.adapters.proc import Completed

_IN_MEMORY = (2, 39)


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """Bring the change from `base` to `theirs` onto `ours`; all are trees."""

    base: str
    ours: str
    theirs: str


def read_version() -> tuple[int, ...]:
    """Return the version of the git on PATH."""
    return _read_version(shutil.which("git"))


@functools.cache
def _read_version(_program: str | None) -> tuple[int, ...]:
    text = checked(run_git("--version"), "git does not say its version").text
    numbers = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else (0, 0, 0)


class TreeMerger:
    """Merges trees of one store."""

    def __init__(self, store: Store, *, say: Callable[[str], None]) -> None:
        self._store = store
        self._attributes = AttributeFolders(store.folder.absolute() / "attributes", store.objects)
        self._say = say
        self._warned = False

    def merge_trees(self, merges: Sequence[Merge]) -> list[Merged]:
        """Return one result for each merge, in order. An object that is missing is a failure, never a conflict."""
        if read_version() < _IN_MEMORY:
            self._warn_once()
            return [merge_in_worktree(self._store, *self.write_commits(merge)) for merge in merges]
        results = self._merge_all(merges)
        # Few projects have attributes that steer a merge, and few merges touch such files: only these are merged again.
        again: dict[Path, list[int]] = {}
        for index, (merge, merged) in enumerate(zip(merges, results, strict=True)):
            if folder := self._attributes.prepare(merged, merge.ours):
                again.setdefault(folder, []).append(index)
        for folder, indices in again.items():
            steered = self._merge_all([merges[index] for index in indices], folder)
            for index, merged in zip(indices, steered, strict=True):
                results[index] = merged
        return results

    def write_commits(self, merge: Merge) -> tuple[str, str]:
        """Return the commits of ours whose merge is this one: the release's side and the change's."""
        objects = self._store.objects
        base = objects.write_synthetic(merge.base)
        return objects.write_synthetic(merge.ours, base), objects.write_synthetic(merge.theirs, base)

    def _merge_all(self, merges: Sequence[Merge], attributes: Path | None = None) -> list[Merged]:
        lines = ["{} {}\n".format(*self.write_commits(merge)) for merge in merges]
        results: list[Merged] = []
        while len(results) < len(lines):
            rest = "".join(lines[len(results) :]).encode()
            done = self._run_merge_tree(attributes, rest)
            results += parse_batch(done.stdout)
            if len(results) < len(lines):
                results.append(failed_merge(done.error_text))
        return results

    def _run_merge_tree(self, attributes: Path | None, stdin: bytes) -> Completed:
        place = [] if attributes is None else [f"--work-tree={attributes}"]
        options = ("--write-tree", "--messages", "--allow-unrelated-histories", "--stdin")
        command = (f"--git-dir={self._store.folder.absolute()}", *place, "merge-tree", *options)
        return run_git(*command, cwd=attributes, stdin=stdin)

    def _warn_once(self) -> None:
        if not self._warned:
            version = ".".join(map(str, read_version()))
            self._say(
                f"git {version} cannot merge in memory (2.39 can): merging in a worktree of ours, which is slower"
            )
            self._warned = True
