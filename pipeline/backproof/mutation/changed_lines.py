"""Which lines of a file a fix changed, and the hunks that they make up."""

from __future__ import annotations

import io
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONTEXT = 3
"""Lines around a change, as git shows them: two changes whose context meets are one hunk."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """A stretch of a file before and after: line numbers from 0, the end excluded."""

    old: tuple[int, int]
    new: tuple[int, int]

    def revert(self, before: Sequence[str], after: Sequence[str]) -> list[str]:
        """Return the file after the fix with this stretch as it was before."""
        return [*after[: self.new[0]], *before[slice(*self.old)], *after[self.new[1] :]]


def split_lines(text: str) -> list[str]:
    """Split as git does: at line feeds only."""
    return list(io.StringIO(text, newline="\n"))


def find_changes(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    """Return each change by itself, without context."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    return [Hunk(old=(a, b), new=(c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"]


def join_changes(changes: Sequence[Hunk]) -> list[Hunk]:
    """Join changes whose context meets, with the lines between them."""
    hunks: list[Hunk] = []
    for change in changes:
        if hunks and change.new[0] - hunks[-1].new[1] <= 2 * _CONTEXT:
            last = hunks.pop()
            change = Hunk(old=(last.old[0], change.old[1]), new=(last.new[0], change.new[1]))  # noqa: PLW2901
        hunks.append(change)
    return hunks


def list_numbers(hunks: Sequence[Hunk]) -> Iterator[int]:
    """Return the lines of the file after the fix that the hunks cover, from 1."""
    return (number + 1 for hunk in hunks for number in range(*hunk.new))
