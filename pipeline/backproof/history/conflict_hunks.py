"""The conflict hunks of a file that was merged with diff3 markers, and their places in base and release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git.log import Hunk
    from backproof.history.picks import Picker, PickResult

Lines = tuple[bytes, ...]
WIDEN = 3
"""Lines around an insertion that are taken for what it rests on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConflictHunk:
    """A conflict in a file: what the release, the base and the fix have there."""

    ours: Lines
    base: Lines
    theirs: Lines


def parse_hunks(marked: bytes, ours: str, theirs: str) -> list[ConflictHunk]:
    """Read the hunks between markers that carry the labels of both sides.

    The labels are hashes of ours, so that a marker which the file holds as text is not taken for one.
    """
    hunks: list[ConflictHunk] = []
    parts: list[list[bytes]] | None = None
    opening, closing = f"<<<<<<< {ours}".encode(), f">>>>>>> {theirs}".encode()
    for line in marked.split(b"\n"):
        text = line.rstrip(b"\r")
        if text.startswith(opening):
            parts = [[]]
        elif parts is None:
            continue
        elif text.startswith(closing):
            if len(parts) == 3:
                hunks.append(ConflictHunk(ours=tuple(parts[0]), base=tuple(parts[1]), theirs=tuple(parts[2])))
            parts = None
        elif (len(parts) == 1 and text.startswith(b"||||||| ")) or (len(parts) == 2 and text == b"======="):
            parts.append([])
        else:
            parts[-1].append(line)
    return hunks


def count_conflicts(picker: Picker, pick: PickResult) -> int:
    """Count the conflicts that a person would have to resolve: hunks, and one for each file that has none."""
    texts = [picker.objects.read_file(str(pick.marked), conflict.path) for conflict in pick.real_conflicts]
    return sum(max(1, len(parse_hunks(text, *pick.labels))) if text else 1 for text in texts)


def locate_blocks(blocks: Sequence[Lines], whole: bytes) -> list[tuple[int, int] | None]:
    """Return first and last line (from 1) of each block in a file, searched in order; None for an empty or lost one."""
    lines = whole.split(b"\n")
    spans: list[tuple[int, int] | None] = []
    start = 0
    for block in blocks:
        at = _find_block(lines, block, start) if block else None
        if at is None:
            spans.append(None)
        else:
            spans.append((at + 1, at + len(block)))
            start = at + len(block)
    return spans


def _find_block(lines: Sequence[bytes], block: Lines, start: int) -> int | None:
    first = block[0]
    for at in range(start, len(lines) - len(block) + 1):
        if lines[at] == first and tuple(lines[at : at + len(block)]) == block:
            return at
    return None


def locate_hunks(
    conflicts: Sequence[ConflictHunk], base: bytes, theirs: bytes, hunks: Sequence[Hunk]
) -> list[tuple[int, int] | None]:
    """Return the base lines that each conflict rests on; for an insertion the lines next to it."""
    direct = locate_blocks([conflict.base for conflict in conflicts], base)
    placed = locate_blocks([conflict.theirs for conflict in conflicts], theirs)
    count = len(base.split(b"\n"))
    spans: list[tuple[int, int] | None] = []
    for span, new in zip(direct, placed, strict=True):
        hunk = next((hunk for hunk in hunks if new and _overlaps(hunk.new, new)), None) if span is None else None
        if hunk is None:
            spans.append(span)
        else:
            first = max(1, hunk.old[0] - WIDEN + 1)
            spans.append((first, min(count, max(first, hunk.old[0] + max(hunk.old[1], 1) - 1 + WIDEN))))
    return spans


def _overlaps(hunk: tuple[int, int], span: tuple[int, int]) -> bool:
    return hunk[0] <= span[1] and hunk[0] + max(hunk[1], 1) - 1 >= span[0]
