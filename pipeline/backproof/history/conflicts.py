"""The paths that cannot be merged, and why: from git's messages and from the sides that have the path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.objects import LINK_MODE
from backproof.records.picks import ConflictKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backproof.adapters.git import Entry, Merged


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflict:
    """A path in conflict, with what base (1), release (2) and fix (3) have there."""

    path: str
    kind: ConflictKind
    stages: dict[int, Entry]
    dropped: bool = False


def read_conflicts(merged: Merged, drop: Callable[[str], bool]) -> Iterator[Conflict]:
    """Yield each path in conflict."""
    kinds: dict[str, str] = {}
    for message in merged.messages:
        if message.kind.startswith("CONFLICT"):
            for path in message.paths:
                kinds[path] = f"{kinds.get(path, '')} {message.kind}"
    for path, stages in merged.unmerged.items():
        yield Conflict(path=path, kind=_name_kind(stages, kinds.get(path, "")), stages=stages, dropped=drop(path))
    if not merged.clean and not merged.unmerged:
        # Such as a folder rename that git only suggests: nothing is unmerged, yet a person must decide.
        for path, text in kinds.items():
            yield Conflict(path=path, kind=_name_kind({}, text), stages={}, dropped=drop(path))


def _name_kind(stages: dict[int, Entry], text: str) -> ConflictKind:
    if any(entry.mode == LINK_MODE for entry in stages.values()) or "submodule" in text:
        return ConflictKind.SUBMODULE
    for word, kind in _WORDS:
        if word in text:
            return kind
    if {2, 3} <= set(stages) and stages[2].oid == stages[3].oid:
        return ConflictKind.MODE
    return _BY_STAGES.get(frozenset(stages), ConflictKind.CONTENT)


_WORDS = (
    ("directory rename", ConflictKind.DIRECTORY_RENAME),
    ("file location", ConflictKind.DIRECTORY_RENAME),
    ("rename/", ConflictKind.RENAME),
    ("rename involved", ConflictKind.RENAME),
    ("distinct modes", ConflictKind.MODE),
    ("distinct types", ConflictKind.MODE),
    ("file/directory", ConflictKind.FILE_DIRECTORY),
)
_BY_STAGES = {
    frozenset({1, 2}): ConflictKind.DELETED_BY_FIX,
    frozenset({1, 3}): ConflictKind.DELETED_BY_BRANCH,
    frozenset({2, 3}): ConflictKind.ADD_ADD,
    frozenset({1}): ConflictKind.RENAME,
    frozenset({2}): ConflictKind.RENAME,
    frozenset({3}): ConflictKind.RENAME,
}
