"""The result on a terminal. Text of a log is never markup here, and its control characters do not reach the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.table import Table
from rich.text import Text

from backproof.core.plain_text import escape_line
from backproof.triage import cell_tables

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


def print_result(result: TriageResult, console: Console) -> None:
    """Print the result, the first fault first."""
    _print_headline(result, console)
    for reason in result.why:
        _print_line(console, f"  because {reason}")
    if result.advice:
        _print_line(console, f"  next: {result.advice}")
    for cells in cell_tables.list_tables(result):
        table = Table(*cells.head)
        for row in cells.rows:
            table.add_row(*(Text(escape_line(cell), style=_COLOURS.get(cell, "")) for cell in row))
        console.print(table)
    for note in cell_tables.list_notes(result):
        _print_line(console, f"note: {note}", "dim")


def _print_headline(result: TriageResult, console: Console) -> None:
    first = result.first_fault
    if first is None:
        _print_line(console, result.verdict, "bold green" if result.outcome == "healthy" else "bold yellow")
        return
    _print_line(console, f"{first.file}:{first.line} {first.kind}, confidence {result.confidence}", "bold red")
    _print_line(console, f"  {result.verdict}")
    _print_line(console, f"  {first.time or 'no clock'}  {first.text}", "dim")
    if result.chain:
        _print_line(console, f"  codes: {cell_tables.format_chain(result)}")


def _print_line(console: Console, text: str, style: str = "") -> None:
    """Print one line whole: broken to fit a width, its rest could start like a command of GitHub Actions."""
    console.print(Text(escape_line(text), style=style), soft_wrap=True)
