"""The places of a file where both sides of a merge change the same lines: as git merges, from two differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.log import diff_blobs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.history.conflicts import Conflict
    from backproof.history.picks import Picker, PickResult

    Span = tuple[int, int]

_WIDEN = 3
"""Lines around an insertion that are taken for what it rests on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictHunk:
    """A conflict in a file: the lines that base, release and fix have there, and where they begin and end (counted from 0)."""

    base: Sequence[bytes]
    ours: Sequence[bytes]
    theirs: Sequence[bytes]
    base_span: Span
    ours_span: Span

    def widen_base(self, last: int) -> Span:
        """Return the base lines that it rests on; for an insertion the lines next to it, up to the file's last."""
        start, end = self.base_span
        return (start, end) if start < end else (max(0, start - _WIDEN), min(last, end + _WIDEN))


def find_hunks(picker: Picker, conflict: Conflict) -> list[ConflictHunk]:
    """Return the hunks of a file that both sides change."""
    empty = picker.objects.write_object("blob", b"")
    blobs = [entry.oid if (entry := conflict.stages.get(stage)) else empty for stage in (1, 2, 3)]
    base, ours, theirs = (picker.objects.read_object(oid, "blob").split(b"\n") for oid in blobs)
    hunks: list[ConflictHunk] = []
    for spans in _find_overlaps(*(diff_blobs(picker.store, blobs[0], side) for side in blobs[1:])):
        lines = [text[slice(*span)] for text, span in zip((base, ours, theirs), spans, strict=True)]
        if lines[1] != lines[2]:
            sides = {"base": lines[0], "ours": lines[1], "theirs": lines[2]}
            hunks.append(ConflictHunk(**sides, base_span=spans[0], ours_span=spans[1]))
    return hunks


def _find_overlaps(ours: Sequence[tuple[Span, Span]], theirs: Sequence[tuple[Span, Span]]) -> Iterator[list[Span]]:
    """Yield the spans of base and both sides wherever differences of both sides overlap or touch."""
    rows = sorted((*old, side, *new) for side, hunks in enumerate((ours, theirs)) for old, new in hunks)
    moved = [0, 0]
    while rows:
        start, end = rows[0][:2]
        before, sides = list(moved), set[int]()
        while rows and rows[0][0] <= end:
            first, last, side, new_first, new_last = rows.pop(0)
            end = max(end, last)
            moved[side] += (new_last - new_first) - (last - first)
            sides.add(side)
        if len(sides) == 2:
            yield [(start, end), *((start + before[side], end + moved[side]) for side in (0, 1))]


def count_conflicts(picker: Picker, pick: PickResult) -> int:
    """Count the conflicts that a person would have to resolve: hunks, and one for each file that has none.

    The labels are hashes of ours, so that a marker which the file holds as text is not taken for one.
    """
    texts = [picker.objects.read_file(str(pick.marked), conflict.path) for conflict in pick.real_conflicts]
    marker = f"<<<<<<< {pick.labels[0]}".encode()
    return sum(max(1, text.count(marker)) if text else 1 for text in texts)
