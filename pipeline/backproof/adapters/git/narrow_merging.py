"""Merges reduced to the paths that the change touches: many in one, where git would give each the same answer.

git reads whole trees to find renames. Where both sides still have each file that the change touches, under its name, and no
folder of a new one is gone, no rename can concern it: the merge is then that of each file alone. Everything else is git's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.merge_output import Merge, Merged
from backproof.adapters.git.objects import FILE_MODES, TREE_MODE, Entry
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from backproof.adapters.git.objects import Objects

    Sides = tuple[Entry | None, Entry | None, Entry | None]
    """What base, ours and theirs have at a path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Narrow:
    """One merge as the paths that its change touches."""

    merge: Merge
    paths: Mapping[str, Sides]

    @property
    def contents(self) -> dict[str, Sides]:
        """The files whose text must be merged."""
        return {path: sides for path, sides in self.paths.items() if len(set(map(_read_oid, sides))) == 3}


def narrow_merge(objects: Objects, merge: Merge) -> Narrow | None:
    """Return the merge path by path; None where renames, or other kinds of entries than files, may play a part."""
    try:
        changes = objects.diff_trees(merge.base, merge.theirs)
        paths = {path: (old, objects.find_entry(merge.ours, path), new) for path, (old, new) in changes.items()}
        added = [path for path, (old, _) in changes.items() if old is None]
        renames = added and any(new is None for _, new in changes.values())
        plain = all(map(_is_plain, paths.values())) and all(_has_folders(objects, merge, path) for path in added)
    except HostError:
        return None  # an object is missing: git says which
    return Narrow(merge=merge, paths=paths) if plain and not renames else None


def merge_narrow(objects: Objects, narrows: Sequence[Narrow], run: Callable[[Merge], Merged]) -> list[Merged]:
    """Return one result for each; `run` merges whole trees, and is asked once for the contents of all files."""
    triples = {sides: str(at) for at, sides in enumerate({s for narrow in narrows for s in narrow.contents.values()})}
    base, ours, theirs = (_write_flat(objects, triples, side) for side in range(3))
    merged = run(Merge(base=base, ours=ours, theirs=theirs)) if triples else Merged(tree=base, unmerged={})
    if merged.tree is None:
        # One of these cannot be read: the others are merged without it.
        half = len(narrows) // 2
        parts = [merge_narrow(objects, part, run) for part in (narrows[:half], narrows[half:])] if half else [[merged]]
        return [result for part in parts for result in part]
    files = objects.read_tree(merged.tree)
    texts = {sides: files[name] for sides, name in triples.items()}
    conflicts = frozenset(sides for sides, name in triples.items() if name in merged.unmerged)
    return [_settle(objects, narrow, texts, conflicts, merged.labels) for narrow in narrows]


def _write_flat(objects: Objects, triples: Mapping[Sides, str], side: int) -> str:
    rows = {name: Entry(mode="100644", oid=_read_oid(sides[side])) for sides, name in triples.items()}
    return objects.edit_tree(None, rows)


def _settle(
    objects: Objects,
    narrow: Narrow,
    texts: Mapping[Sides, Entry],
    conflicts: frozenset[Sides],
    labels: tuple[str, str],
) -> Merged:
    changes: dict[str, Entry | None] = {}
    unmerged: dict[str, dict[int, Entry]] = {}
    for path, (base, ours, theirs) in narrow.paths.items():
        sides = (base, ours, theirs)
        if ours == base or ours is None or theirs is None or base is None:
            changes[path] = theirs
            continue
        oid = texts[sides].oid if sides in texts else _choose(base.oid, ours.oid, theirs.oid)
        changes[path] = Entry(mode=_choose(base.mode, ours.mode, theirs.mode), oid=oid)
        if sides in conflicts:
            unmerged[path] = {1: base, 2: ours, 3: theirs}
    tree = objects.edit_tree(narrow.merge.ours, changes)
    return Merged(tree=tree, clean=not unmerged, unmerged=unmerged, labels=labels)


def _choose(base: str, ours: str, theirs: str) -> str:
    """Return the side that changed; both did so alike where neither is as the base."""
    return theirs if ours == base else ours


def _read_oid(entry: Entry | None) -> str:
    return entry.oid if entry else ""


def _is_plain(sides: Sides) -> bool:
    base, ours, _ = sides
    return ours == base or all(entry is not None and entry.mode in FILE_MODES for entry in sides)


def _has_folders(objects: Objects, merge: Merge, path: str) -> bool:
    """Tell whether a new file keeps its folder: one that is gone from our side may have moved."""
    parts = path.split("/")[:-1]
    folders = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    pairs = [(objects.find_entry(merge.base, folder), objects.find_entry(merge.ours, folder)) for folder in folders]
    return all(base is None or base.mode == TREE_MODE for base, _ in pairs) and all(
        ours.mode == TREE_MODE if ours else base is None for base, ours in pairs
    )
