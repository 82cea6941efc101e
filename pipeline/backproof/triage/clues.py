"""What tells one failure from others: texts of the result in which a search for its fix has its words."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from backproof.records.triage import Clue
from backproof.triage import codes, correlate, serverlog

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.triage.events import Event
    from backproof.triage.rules import Rule, RuleBook
    from backproof.triage.serverlog import ServerMark

_LINES: Final = 40
_FRAMES: Final = 40
_LONG: Final = 400
_WORD: Final = re.compile(r"\w+")


def collect_clues(
    events: Sequence[Event], marks: Sequence[ServerMark], book: RuleBook, kind: str | None
) -> tuple[Clue, ...]:
    """Collect codes, kernels, frames and exceptions, and of other lines the words that the stack does not always use; bounded.

    Args:
        events: the first fault with its details, then the rest, the most telling first.
        kind: of the first fault.
    """
    common = _list_common_words(book.rules)
    clues = [Clue(what="kind", text=kind)] if kind else []
    clues += [*_read_events(events[:_LINES], common), *_read_marks(marks, common)]
    return tuple(dict.fromkeys(clues))


@lru_cache(maxsize=1)
def _list_common_words(rules: tuple[Rule, ...]) -> frozenset[str]:
    """Return the words of the examples of rules: they stand in every log of a failure, and in no fix."""
    return frozenset(word for rule in rules for word in _WORD.findall(rule.example.lower()))


def _read_events(events: Sequence[Event], common: frozenset[str]) -> Iterator[Clue]:
    for event in events:
        for code in codes.find_codes(event.subject):
            if code.table in codes.USER_TABLES and not code.code.endswith("9999"):
                yield Clue(what="code", text=code.code)
        if kernel := correlate.find_kernel(event.subject):
            yield Clue(what="kernel", text=kernel[:_LONG])
        if event.entry.head.form == "text" and (words := _drop_common(event.subject, common)):
            yield Clue(what="line", text=words)


def _drop_common(text: str, common: frozenset[str]) -> str:
    return " ".join(word for word in _WORD.findall(text[:_LONG]) if word.lower() not in common)


def _read_marks(marks: Sequence[ServerMark], common: frozenset[str]) -> Iterator[Clue]:
    """Read frames, innermost first, and exceptions."""
    frames = [text for mark in marks if mark.name == "frame" and (text := serverlog.format_frame(mark.text))]
    yield from (Clue(what="frame", text=text) for text in reversed(frames[:_FRAMES]))
    raised = (_drop_common(mark.text, common) for mark in marks[:500] if mark.name == "raised")
    yield from (Clue(what="raised", text=words) for words in raised if words)
