"""triage: the logs that a failure left behind, read at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.output import open_console, print_json, print_text
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.triage import TriageResult


@click.command("triage")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON (docs/triage.md).")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the result as Markdown.")
@click.option(
    "--all", "everything", is_flag=True, help="Print all lines, tables, reasons and notes before the summary."
)
@click.option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), help="Also write the timeline page.")
def triage_command(
    *, paths: Sequence[Path], as_json: bool, as_markdown: bool, everything: bool, page: Path | None
) -> None:
    """Name the first fault in logs, folders or archives, and its secondary errors.

    Exit code 1: a first fault was found. 0: the logs were read to their end and hold no error. 4: unknown
    (errors that no rule explains, only secondary errors, or something that could not be read).
    """
    from backproof.triage import triage

    for path in paths:
        if not path.exists() and not path.is_symlink():
            raise PlanError(
                f"{path}: there is no such file or folder",
                why="nothing to read",
                next_step="name a log, a folder or an archive",
            )
    result = triage(paths)
    if page is not None:
        _write_page(page, result)
    if as_json:
        print_json(result)
    elif as_markdown:
        from backproof.triage import markdown

        print_text(markdown.render_markdown(result))
    else:
        _print_result(result, everything=everything)
    sys.exit(result.exit_code)


def _print_result(result: TriageResult, *, everything: bool) -> None:
    from backproof.triage import terminal

    terminal.print_result(result, open_console(), everything=everything)


def _write_page(path: Path, result: TriageResult) -> None:
    from backproof.report import render
    from backproof.rundir import ledger

    ledger.write_atomic(path, render.render_triage_page(result).encode())
