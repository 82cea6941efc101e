"""The answer as Markdown.

Everything from a log is hostile text: it stands in code spans, where nothing is a link, a mention, a tag or a heading,
and it is bounded in length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from backproof.core.plain_text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.records.triage import TriageResult

_TICKS: Final = re.compile(r"`+")
_LISTED: Final = 10
_LONG: Final = 300


def code(text: str) -> str:
    """Text as a code span that it cannot leave, also in a table."""
    plain = one_line(text[:_LONG]).replace("|", "\N{BROKEN BAR}")
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    return f"{fence} {plain or ' '} {fence}"


def render(result: TriageResult) -> str:
    """One section per question: what, why, what else, what to do."""
    parts = [
        _headline(result),
        _fault(result),
        _why(result),
        _lines(result),
        _pointers(result),
        _server(result),
        _ranks(result),
        _notes(result),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A pipe table, empty without rows."""
    body = ["| " + " | ".join(row) + " |" for row in rows]
    names = list(head)
    return "\n".join(["| " + " | ".join(names) + " |", "|" + " --- |" * len(names), *body]) if body else ""


def _headline(result: TriageResult) -> str:
    return f"**{_TITLES[result.outcome]}** (confidence: {result.confidence}): {code(result.verdict)}"


_TITLES: Final = {
    "first-fault": "First fault found",
    "errors": "Errors, and no first fault among them",
    "only-secondary": "Only secondary errors",
    "healthy": "No failure found",
    "unread": "Not read to the end: it could not be told",
}


def _fault(result: TriageResult) -> str:
    first = result.first_fault
    if first is None:
        return ""
    rows = [
        ("where", code(f"{first.file}:{first.line}")),
        ("kind", first.kind),
        ("time", first.time or "no clock"),
        ("rank, device", f"{_or_dash(result.rank)}, {_or_dash(result.device)}"),
        ("kernel", code(result.kernel) if result.kernel else "-"),
        ("codes", " → ".join(f"{each.code} {each.meaning}".strip() for each in result.chain) or "-"),
        ("line", code(first.text)),
        ("advice", result.advice),
    ]
    return table(("first fault", ""), rows)


def _or_dash(value: int | None) -> str:
    return "-" if value is None else str(value)


def _why(result: TriageResult) -> str:
    return "Why:\n\n" + "\n".join(f"- {code(reason)}" for reason in result.why)


def _lines(result: TriageResult) -> str:
    def shown(lines: tuple[str, ...]) -> str:
        rest = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
        return ", ".join(code(line) for line in lines[:_LISTED]) + rest

    return table(("class", "lines"), ((name, shown(lines)) for name, lines in result.lists() if lines))


def _pointers(result: TriageResult) -> str:
    rows = (
        (
            code(each.where),
            each.status,
            each.result,
            f"sq {each.queue}, task {each.task}",
            code(each.joined) if each.joined else "not found",
        )
        for each in result.pointers
    )
    return table(("pointer", "status", "result", "points at", "report of that task"), rows)


def _server(result: TriageResult) -> str:
    server = result.server
    if server is None:
        return ""
    rows = ((each.hypothesis, each.evidence, each.verdict) for each in server.hypotheses)
    return f"Server: {server.pace} ({server.pace_why}); stack: {server.spread}.\n\n" + table(
        ("hypothesis", "evidence", "verdict"), rows
    )


def _ranks(result: TriageResult) -> str:
    rows = (
        (
            _or_dash(each.rank),
            _or_dash(each.device),
            code(f"{each.host} {each.process}".strip()),
            str(each.errors),
            each.first or "-",
            each.role,
        )
        for each in result.ranks
    )
    return table(("rank", "device", "process", "errors", "first", "role"), rows)


def _notes(result: TriageResult) -> str:
    return "\n".join(_note_lines(result))


def _note_lines(result: TriageResult) -> Iterator[str]:
    for note in result.notes:
        yield f"- note: {code(note)}"
    if not result.lists_complete:
        yield "- note: the input is large; the lists name the earliest lines of each class only, the counts are of all"
