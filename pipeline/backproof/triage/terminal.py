"""The result on a terminal. Text of a log is never markup here, and its control characters do not reach the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from backproof.core.plain_text import escape_line

if TYPE_CHECKING:
    from rich.console import Console

    from backproof.records.triage import TriageResult

_COLOURS: Final = {
    "first-fault": "bold red",
    "detail": "red",
    "pointer": "yellow",
    "secondary": "dim",
    "noise": "dim",
    "unknown": "magenta",
}
_LISTED: Final = 8
_RANKS: Final = 32
_SHAPES: Final = 10


def print_result(result: TriageResult, console: Console) -> None:
    """Print the result, the first fault first."""
    _print_headline(result, console)
    for reason in result.why:
        _print_line(console, Text(f"  because {escape_line(reason)}"))
    if result.advice:
        _print_line(console, Text(f"  next: {result.advice}"))
    for table in (
        _tabulate_lines(result),
        _tabulate_hypotheses(result),
        _tabulate_ranks(result),
        _tabulate_shapes(result),
    ):
        if table.row_count:
            console.print(table)
    for note in result.notes:
        _print_line(console, Text(f"note: {escape_line(note)}", style="dim"))


def _print_headline(result: TriageResult, console: Console) -> None:
    first = result.first_fault
    if first is None:
        _print_line(
            console,
            Text(escape_line(result.verdict), style="bold green" if result.outcome == "healthy" else "bold yellow"),
        )
        return
    _print_line(
        console,
        Text(f"{escape_line(first.file)}:{first.line}", style="bold red"),
        Text(f"{first.kind}, confidence {result.confidence}"),
    )
    _print_line(console, Text(f"  {escape_line(result.verdict)}"))
    _print_line(console, Text(f"  {first.time or 'no clock'}  {escape_line(first.text)}", style="dim"))
    if result.chain:
        _print_line(console, Text("  codes: " + " -> ".join(f"{code.code} ({code.meaning})" for code in result.chain)))


def _print_line(console: Console, *parts: Text) -> None:
    """Print one line whole: broken to fit a width, its rest could start like a command of GitHub Actions."""
    console.print(*parts, soft_wrap=True)


def _tabulate_lines(result: TriageResult) -> Table:
    table = Table("class", "count", "lines")
    for name, lines in result.list_lines():
        if lines:
            more = f" +{len(lines) - _LISTED}" if len(lines) > _LISTED else ""
            table.add_row(
                Text(name, style=_COLOURS[name]), str(len(lines)), Text(escape_line(" ".join(lines[:_LISTED]) + more))
            )
    return table


def _tabulate_hypotheses(result: TriageResult) -> Table:
    table = Table("hypothesis", "evidence", "verdict")
    for row in result.server.hypotheses if result.server else ():
        table.add_row(row.hypothesis, row.evidence, row.verdict)
    return table


def _tabulate_ranks(result: TriageResult) -> Table:
    table = Table("rank", "device", "process", "errors", "first", "role")
    for row in result.ranks[:_RANKS]:
        cells = [
            str(row.rank),
            str(row.device),
            escape_line(f"{row.host} {row.process}".strip()),
            str(row.errors),
            row.first or "-",
        ]
        table.add_row(
            *(Text("-" if cell == "None" else cell) for cell in cells), Text(row.role, style=_COLOURS[row.role])
        )
    return table


def _tabulate_shapes(result: TriageResult) -> Table:
    table = Table("count", "error, digits as #")
    for shape in result.distribution[:_SHAPES]:
        table.add_row(str(shape.count), Text(escape_line(shape.text)))
    return table
