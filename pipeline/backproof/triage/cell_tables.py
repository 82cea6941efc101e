"""The facts and tables of a result in plain cells, for a terminal and for Markdown alike.

A cell may hold hostile text from a log: whoever prints it escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.records.triage import TriageResult

_LISTED: Final = 10
_RANKS: Final = 32
_SHAPES: Final = 10
CUT: Final = "the input is large; the lists name the earliest lines of each class only, the counts are of all"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTable:
    """A table of text; every row has as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def list_tables(result: TriageResult) -> Iterator[CellTable]:
    """Return the tables that have a row, the most telling first."""
    server = result.server
    tables: dict[tuple[str, ...], list[tuple[str, ...]]] = {
        ("class", "count", "lines"): [
            (name, str(len(lines)), _join_lines(lines)) for name, lines in result.list_lines() if lines
        ],
        ("pointer", "status", "result", "points at", "report of that task"): [
            (row.where, row.status, row.result, f"sq {row.queue}, task {row.task}", row.joined or "not found")
            for row in result.pointers
        ],
        ("hypothesis", "evidence", "verdict"): [
            (row.hypothesis, row.evidence, row.verdict) for row in (server.hypotheses if server else ())
        ],
        ("rank", "device", "process", "errors", "first", "role"): [
            (
                _show(row.rank),
                _show(row.device),
                f"{row.host} {row.process}",
                str(row.errors),
                _show(row.first),
                row.role,
            )
            for row in result.ranks[:_RANKS]
        ],
        ("count", "error, digits as #"): [(str(shape.count), shape.text) for shape in result.distribution[:_SHAPES]],
    }
    yield from (CellTable(head=head, rows=tuple(rows)) for head, rows in tables.items() if rows)


def list_notes(result: TriageResult) -> list[str]:
    """Return what a reader must know beside the result."""
    return [*result.notes, *(() if result.lists_complete else (CUT,))]


def format_chain(result: TriageResult) -> str:
    """Return the codes from the device to the user, each with its meaning."""
    return " -> ".join(f"{code.code} ({code.meaning})" for code in result.chain)


def _join_lines(lines: tuple[str, ...]) -> str:
    more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    return ", ".join(lines[:_LISTED]) + more


def _show(value: object) -> str:
    return "-" if value is None else str(value)
