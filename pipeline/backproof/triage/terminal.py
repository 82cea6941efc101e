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
_STYLES: Final = {"first fault": "bold red", "outcome": "bold yellow", "line": "dim", "notes": "dim", "next": "bold"}


def print_result(result: TriageResult, console: Console, *, everything: bool = False) -> None:
    """Print at most ten lines, which say what a person on call needs; before them, on request, all that is known."""
    if everything:
        _print_everything(result, console)
    for name, text in cell_tables.summarize(result):
        style = "bold green" if result.outcome == "healthy" else _STYLES.get(name, "")
        _print_line(console, f"{name:>11}  {text}", style)


def _print_everything(result: TriageResult, console: Console) -> None:
    for cells in cell_tables.list_tables(result):
        table = Table(*cells.head)
        for row in cells.rows:
            table.add_row(*(Text(escape_line(cell), style=_COLOURS.get(cell, "")) for cell in row))
        console.print(table)
    for line in (f"codes: {cell_tables.format_chain(result)}", *(f"because {reason}" for reason in result.why)):
        _print_line(console, line, "dim")
    for note in cell_tables.list_notes(result):
        _print_line(console, f"note: {note}", "dim")


def _print_line(console: Console, text: str, style: str = "") -> None:
    """Print one line whole: broken to fit a width, its rest could start like a command of GitHub Actions."""
    console.print(Text(escape_line(text), style=style), soft_wrap=True)
