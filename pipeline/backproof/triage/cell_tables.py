"""The summary and tables of a result in plain cells, for a terminal and for Markdown alike.

A cell may hold hostile text from a log: whoever prints it escapes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from backproof.core.plain_text import cut_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.records.triage import TriageResult

_LISTED: Final = 10
_LINE: Final = 160
_FOREIGN: Final = re.compile(
    r"/(?:torch|torch_npu|lib/python[\d.]+/(?!site-packages))|<frozen|site-packages/(?:torch|uvloop|ray)/"
)
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


def summarize(result: TriageResult) -> list[tuple[str, str]]:
    """Return at most ten lines for the person on call, each with its name; what is not known has no line."""
    first = result.first_fault
    if first is None:
        lines = {"outcome": result.verdict, "code": result.code, "peer": result.peer, "next": result.advice}
    else:
        lines = {
            "first fault": f"{first.file}:{first.line} ({first.kind}, confidence {result.confidence})",
            "what": "; ".join((result.verdict, *_decode_codes(result))),
            "line": cut_text(first.text, _LINE),
            "where": _say_where(result),
            "since": _say_since(result),
            "points at": _say_pointer(result),
            "stack": _find_own_frame(result.server.stack) if result.server else "",
            "it is not": "; ".join(_list_ruled_out(result)),
            "next": result.advice,
        }
    notes = list_notes(result)
    lines["notes"] = f"{notes[0]}{f' (and {len(notes) - 1} more, --all)' if notes[1:] else ''}" if notes else ""
    return [(name, str(text)) for name, text in lines.items() if text]


def _decode_codes(result: TriageResult) -> list[str]:
    """Return what the numbers of the fault mean: those of cores and events first, else the chain to the user's code."""
    precise = [
        f"{code.code} {code.meaning}" for code in result.codes if code.table.startswith(("aicore", "event", "sdma"))
    ]
    return precise[:2] or [f"{code.code} {code.meaning}" for code in result.chain[-1:] if code.meaning]


def _say_where(result: TriageResult) -> str:
    first = next((row for row in result.ranks if row.role == "first-fault"), None)
    spread = result.server.spread if result.server and result.server.spread != "unknown" else None
    facts = {"rank": result.rank, "device": result.device, "host": (first and first.host) or None, "peer": result.peer}
    named = [f"{name} {value}" for name, value in facts.items() if value is not None]
    return ", ".join([*named, *([spread] if spread else [])])


def _say_since(result: TriageResult) -> str:
    first = result.first_fault
    if first is None or first.time is None:
        return ""
    return f"{first.time}, a wait that began at {first.began}" if first.began else first.time


def _say_pointer(result: TriageResult) -> str:
    pointers = sorted(result.pointers, key=lambda pointer: pointer.joined is None)
    return next((f"task {row.task} of sq {row.queue}: {row.joined or 'no report of it here'}" for row in pointers), "")


def _find_own_frame(stack: Sequence[str]) -> str:
    """Return the innermost frame that is neither Python's nor torch's own."""
    return next((frame for frame in reversed(stack) if not _FOREIGN.search(frame)), "")


def _list_ruled_out(result: TriageResult) -> Iterator[str]:
    counts = ((name, len(lines)) for name, lines in result.list_lines() if name in {"secondary", "noise"} and lines)
    yield from (f"{count} {name} {'line' if count == 1 else 'lines'}" for name, count in counts)
    server = result.server
    if server is None:
        return
    yield from (f"not that {row.hypothesis}: {row.evidence}" for row in server.hypotheses if row.verdict == "ruled out")
    if server.pace in {"slow", "stuck"}:
        yield f"the server is {server.pace}: {server.pace_why}"


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
