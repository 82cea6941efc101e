"""Three-way merges of trees, many in one process, without a checkout.

`git merge-tree --write-tree` takes commits, and its `--merge-base` came only with git 2.40. Three commits of ours (the
base; the release's tree and the change's tree, both parented on the base) say the same and work from git 2.38 on (2.39 takes many).
"""

from __future__ import annotations

import functools
import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from backproof.adapters.git.attributes import AttributeFolders
from backproof.adapters.git.command import checked, run_git
from backproof.adapters.git.merge_output import failed_merge, parse_batch
from backproof.adapters.git.narrow_merging import Narrow, merge_narrow, narrow_merge
from backproof.adapters.git.old_merging import merge_in_worktree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from backproof.adapters.git.merge_output import Merge, Merged
    from backproof.adapters.git.store import Store
    from backproof.adapters.proc import Completed

_IN_MEMORY = (2, 39)
_REMEMBERED = 2000
"""Merges whose results are remembered: an explanation asks for the same ones again."""


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
        self._objects = store.objects
        self._attributes = AttributeFolders(store.folder.absolute() / "attributes", store.objects)
        self._say = say
        self._warned = False
        self._merged: dict[Merge, Merged] = {}

    def merge_trees(self, merges: Sequence[Merge]) -> list[Merged]:
        """Return one result for each merge, in order. An object that is missing is a failure, never a conflict."""
        if read_version() < _IN_MEMORY:
            self._warn_once()
            return [self._merge_in_worktree(merge) for merge in merges]
        if len(self._merged) > _REMEMBERED:
            self._merged.clear()
        new = [merge for merge in dict.fromkeys(merges) if merge not in self._merged]
        self._merged |= zip(new, self._merge_new(new), strict=True)
        return [self._merged[merge] for merge in merges]

    def _merge_new(self, merges: Sequence[Merge]) -> list[Merged]:
        # Few projects have attributes that steer a merge, and few merges touch such files: only these are merged again.
        steered: dict[int, Path] = {}
        narrows: dict[int, Narrow] = {}
        for at, merge in enumerate(merges):
            if narrow := narrow_merge(self._objects, merge):
                if folder := self._attributes.prepare(narrow.contents, merge.ours):
                    steered[at] = folder
                else:
                    narrows[at] = narrow
        results = dict(zip(narrows, merge_narrow(self._objects, list(narrows.values()), self._merge_one), strict=True))
        whole = [at for at in range(len(merges)) if at not in steered and (at not in narrows or not results[at].tree)]
        results |= zip(whole, self._merge_all([merges[at] for at in whole]), strict=True)
        for at in whole:
            if folder := self._attributes.prepare(results[at].merged_paths, merges[at].ours):
                steered[at] = folder
        for folder in set(steered.values()):
            group = [at for at, other in steered.items() if other == folder]
            results |= zip(group, self._merge_all([merges[at] for at in group], folder), strict=True)
        return [results[at] for at in range(len(merges))]

    def _merge_one(self, merge: Merge) -> Merged:
        return self._merge_all([merge])[0]

    def _merge_in_worktree(self, merge: Merge) -> Merged:
        labels = self._write_commits(merge)
        return replace(merge_in_worktree(self._store, *labels), labels=labels)

    def _write_commits(self, merge: Merge) -> tuple[str, str]:
        """Return the commits of ours whose merge is this one: the release's side and the change's."""
        base = self._objects.write_synthetic(merge.base)
        return self._objects.write_synthetic(merge.ours, base), self._objects.write_synthetic(merge.theirs, base)

    def _merge_all(self, merges: Sequence[Merge], attributes: Path | None = None) -> list[Merged]:
        labels = [self._write_commits(merge) for merge in merges]
        self._objects.flush(name for names in labels for name in names)
        results: list[Merged] = []
        while len(results) < len(labels):
            rest = "".join("{} {}\n".format(*names) for names in labels[len(results) :]).encode()
            done = self._run_merge_tree(attributes, rest)
            results += parse_batch(done.stdout)
            if len(results) < len(labels):
                results.append(failed_merge(done.error_text))
        return [replace(merged, labels=names) for merged, names in zip(results, labels, strict=True)]

    def _run_merge_tree(self, attributes: Path | None, stdin: bytes) -> Completed:
        place = [] if attributes is None else [f"--work-tree={attributes}"]
        options = ("--write-tree", "--messages", "--allow-unrelated-histories", "--stdin")
        command = (f"--git-dir={self._store.folder.absolute()}", *place, "merge-tree", *options)
        # Packing what goes with the store costs as much as merging it.
        return run_git(*command, cwd=attributes, stdin=stdin, settings=("core.looseCompression=0",))

    def _warn_once(self) -> None:
        if not self._warned:
            version = ".".join(map(str, read_version()))
            self._say(
                f"git {version} cannot merge in memory (2.39 can): merging in a worktree of ours, which is slower"
            )
            self._warned = True
