"""The result as Markdown.

Everything from a log is hostile text: it stands in code spans, where nothing is a link, a mention, a tag or a heading,
and it is bounded in length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from backproof.core.escape import format_code_span
from backproof.triage import cell_tables
from backproof.triage.cell_tables import CellTable

if TYPE_CHECKING:
    from backproof.records.triage import TriageResult

_LONG: Final = 300
_TITLES: Final = {
    "first-fault": "First fault found",
    "errors": "Errors, and no first fault among them",
    "only-secondary": "Only secondary errors",
    "healthy": "No failure found",
    "unread": "Unknown: not everything could be read",
}


def format_code(text: str) -> str:
    """Return text as a code span that it cannot leave, also in a table."""
    return str(format_code_span(text[:_LONG].replace("|", "\N{BROKEN BAR}"), _LONG))


def render_markdown(result: TriageResult) -> str:
    """Render the fault, the reasons, the lists and the tables, a section each."""
    server = result.server
    parts = [_render_headline(result), _render_table(CellTable(head=("first fault", ""), rows=_list_facts(result)))]
    parts.append("\n".join(f"- because {format_code(reason)}" for reason in result.why))
    parts += map(_render_table, cell_tables.list_tables(result))
    if server is not None:
        parts.append(f"Server: {server.pace} ({server.pace_why}); stack: {server.spread}.")
    parts.append("\n".join(f"- note: {format_code(note)}" for note in cell_tables.list_notes(result)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _render_headline(result: TriageResult) -> str:
    return f"**{_TITLES[result.outcome]}** (confidence: {result.confidence}): {format_code(result.verdict)}"


def _list_facts(result: TriageResult) -> tuple[tuple[str, str], ...]:
    first = result.first_fault
    if first is None:
        return ()
    facts = {
        "where": f"{first.file}:{first.line}",
        "kind": first.kind,
        "time": first.time or "no clock",
        "rank": result.rank,
        "device": result.device,
        "kernel": result.kernel,
        "codes": cell_tables.format_chain(result),
        "line": first.text,
        "advice": result.advice,
    }
    return tuple((name, str(value)) for name, value in facts.items() if value not in {None, ""})


def _render_table(table: CellTable) -> str:
    rows = [table.head, ("---",) * len(table.head), *(tuple(map(format_code, row)) for row in table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) if table.rows else ""
