"""Merges with a git before 2.39, which cannot merge without a worktree: slower, and held equal by tests."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from backproof.adapters.git.attributes import FILE
from backproof.adapters.git.command import checked
from backproof.adapters.git.merge_output import Merged, Message, failed_merge, parse_unmerged
from backproof.adapters.git.objects import LINK_MODE, Entry

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.adapters.git.store import Store
    from backproof.adapters.git.worktree import Worktree

_CONFLICT = re.compile(r"CONFLICT \([^)]*\)")


def merge_in_worktree(store: Store, ours: str, theirs: str) -> Merged:
    """Merge two commits over their parent; no file but attributes is checked out."""
    with store.open_worktree(ours, only=FILE) as worktree:
        done = worktree.run_git("cherry-pick", "--no-commit", theirs)
        unmerged = parse_unmerged(worktree.run_git("ls-files", "--unmerged", "--stage", "-z").stdout)
        if done.code != 0 and not unmerged:
            return failed_merge(done.error_text)
        _resolve_index(store, worktree, unmerged)
        tree = checked(worktree.run_git("write-tree"), "the merge cannot be read back").text.strip()
    lines = f"{done.text}\n{done.error_text}".splitlines()
    messages = tuple(
        Message(paths=tuple(path for path in unmerged if path in line), kind=conflict[0], text=line)
        for line in lines
        if (conflict := _CONFLICT.match(line))
    )
    return Merged(tree=tree, clean=not unmerged, unmerged=unmerged, messages=messages)


def _resolve_index(store: Store, worktree: Worktree, unmerged: Mapping[str, dict[int, Entry]]) -> None:
    """Take files in conflict as they lie there, with their markers: so does merge-tree."""
    rows: list[bytes] = []
    for path, stages in unmerged.items():
        entry = _read_conflict(store, worktree.folder / path, stages)
        meta = [f"0 {'0' * 40}", *([f"{entry.mode} {entry.oid}"] if entry else [])]
        rows += [f"{fields}\t{path}\0".encode("utf-8", "surrogateescape") for fields in meta]
    if rows:
        store.objects.flush()
        done = worktree.run_git("update-index", "-z", "--index-info", stdin=b"".join(rows))
        checked(done, "the merge cannot be read back")


def _read_conflict(store: Store, file: Path, stages: dict[int, Entry]) -> Entry | None:
    entry = stages.get(2) or stages.get(3)
    if entry is None or entry.mode == LINK_MODE:
        return entry
    if file.is_symlink():
        return Entry(mode=entry.mode, oid=store.objects.write_object("blob", os.fsencode(file.readlink())))
    return Entry(mode=entry.mode, oid=store.objects.write_object("blob", file.read_bytes())) if file.is_file() else None
