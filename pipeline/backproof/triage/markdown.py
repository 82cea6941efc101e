"""The result as Markdown.

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


def format_code(text: str) -> str:
    """Return text as a code span that it cannot leave, also in a table."""
    plain = one_line(text[:_LONG]).replace("|", "\N{BROKEN BAR}")
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    return f"{fence} {plain or ' '} {fence}"


def render_markdown(result: TriageResult) -> str:
    """Render the fault, the reasons, the lists and the tables, a section each."""
    parts = [
        _render_headline(result),
        _render_fault(result),
        _render_reasons(result),
        _render_lines(result),
        _render_pointers(result),
        _render_server(result),
        _render_ranks(result),
        _render_notes(result),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a pipe table, empty without rows."""
    body = ["| " + " | ".join(row) + " |" for row in rows]
    names = list(head)
    return "\n".join(["| " + " | ".join(names) + " |", "|" + " --- |" * len(names), *body]) if body else ""


def _render_headline(result: TriageResult) -> str:
    return f"**{_TITLES[result.outcome]}** (confidence: {result.confidence}): {format_code(result.verdict)}"


_TITLES: Final = {
    "first-fault": "First fault found",
    "errors": "Errors, and no first fault among them",
    "only-secondary": "Only secondary errors",
    "healthy": "No failure found",
    "unread": "Unknown: not everything could be read",
}


def _render_fault(result: TriageResult) -> str:
    first = result.first_fault
    if first is None:
        return ""
    rows = [
        ("where", format_code(f"{first.file}:{first.line}")),
        ("kind", first.kind),
        ("time", first.time or "no clock"),
        ("rank, device", f"{_format_optional(result.rank)}, {_format_optional(result.device)}"),
        ("kernel", format_code(result.kernel) if result.kernel else "-"),
        ("codes", " → ".join(f"{code.code} {code.meaning}".strip() for code in result.chain) or "-"),
        ("line", format_code(first.text)),
        ("advice", result.advice),
    ]
    return render_table(("first fault", ""), rows)


def _format_optional(value: int | None) -> str:
    return "-" if value is None else str(value)


def _render_reasons(result: TriageResult) -> str:
    return "Why:\n\n" + "\n".join(f"- {format_code(reason)}" for reason in result.why)


def _render_lines(result: TriageResult) -> str:
    def list_lines(lines: tuple[str, ...]) -> str:
        rest = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
        return ", ".join(format_code(line) for line in lines[:_LISTED]) + rest

    return render_table(("class", "lines"), ((name, list_lines(lines)) for name, lines in result.list_lines() if lines))


def _render_pointers(result: TriageResult) -> str:
    rows = (
        (
            format_code(pointer.where),
            pointer.status,
            pointer.result,
            f"sq {pointer.queue}, task {pointer.task}",
            format_code(pointer.joined) if pointer.joined else "not found",
        )
        for pointer in result.pointers
    )
    return render_table(("pointer", "status", "result", "points at", "report of that task"), rows)


def _render_server(result: TriageResult) -> str:
    server = result.server
    if server is None:
        return ""
    rows = ((row.hypothesis, row.evidence, row.verdict) for row in server.hypotheses)
    return f"Server: {server.pace} ({server.pace_why}); stack: {server.spread}.\n\n" + render_table(
        ("hypothesis", "evidence", "verdict"), rows
    )


def _render_ranks(result: TriageResult) -> str:
    rows = (
        (
            _format_optional(row.rank),
            _format_optional(row.device),
            format_code(f"{row.host} {row.process}".strip()),
            str(row.errors),
            row.first or "-",
            row.role,
        )
        for row in result.ranks
    )
    return render_table(("rank", "device", "process", "errors", "first", "role"), rows)


def _render_notes(result: TriageResult) -> str:
    return "\n".join(_list_notes(result))


def _list_notes(result: TriageResult) -> Iterator[str]:
    for note in result.notes:
        yield f"- note: {format_code(note)}"
    if not result.lists_complete:
        yield "- note: the input is large; the lists name the earliest lines of each class only, the counts are of all"
