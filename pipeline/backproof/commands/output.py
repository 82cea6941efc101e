"""The one place that prints: progress, lines, documents, JSON and tables, and how a run ended.

Titles, paths and sentences come from outside. Nothing here lets a control character reach the terminal, or a line become
a command of GitHub Actions; a test holds that no other module of the commands prints.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.core.errors import ExitCode
from backproof.core.plain_text import dump_json, escape_line, escape_text

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from backproof.core.model import Record
    from backproof.records.proof import Run, StageResult
    from backproof.upstream.actions import Actions


_PIPED = 10_000
"""Columns of what no terminal shows."""
_FINDINGS = 10


def open_console() -> Console:
    """Return where tables of a result go. A line that goes to a file or another program is not broken to fit 80 columns."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED
    return Console(highlight=False, width=width)


def print_line(text: object, *, err: bool = False) -> None:
    """Print one line, whatever is in it."""
    click.echo(escape_line(str(text)), err=err)


def print_text(text: str) -> None:
    """Print a document of several lines."""
    click.echo(escape_text(text), nl=not text.endswith("\n"))


def print_json(value: Record | dict[str, Any]) -> None:
    click.echo(dump_json(value if isinstance(value, dict) else value.model_dump(mode="json", by_alias=True)))


def print_exact(text: str | bytes) -> None:
    """Print what another program reads byte by byte, such as a script; a terminal still gets no control character."""
    if sys.stdout.isatty():
        text = escape_text(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    click.echo(text, nl=isinstance(text, str))


def say(text: str) -> None:
    """Print progress: one line on stderr; stdout is for results."""
    print_line(text, err=True)


def actions_job(*, err: bool = False) -> Actions | None:
    """Return the job of GitHub Actions that this runs in; None elsewhere."""
    from backproof.upstream.actions import Actions

    return Actions.here(lambda line: click.echo(line, err=err))


def finish_run(run: Run, folder: Path, *, as_json: bool) -> NoReturn:
    """Print what came of a run, and end with its exit code."""
    print_json(run) if as_json else _print_run(run, folder)
    sys.exit(run.outcome.exit_code)


def finish_stage(run: Run, name: str, *, as_json: bool) -> NoReturn:
    """Print what came of one stage and what the run is with it, and end with the stage's exit code."""
    result = next(stage for stage in run.stages if stage.stage == name)
    if as_json:
        print_json(run)
    else:
        _print_result(result)
        print_line(f"the run: {run.sentence}")
    sys.exit(result.outcome.exit_code)


def _print_run(run: Run, folder: Path) -> None:
    comment = folder / run.files.get("comment.md", "comment.md")
    if comment.exists():
        print_text(comment.read_text(encoding="utf-8"))
    for result in run.stages:
        if result.outcome.exit_code is not ExitCode.PASS:
            _print_result(result, most=_FINDINGS)
    for name in (*run.files.values(), "run.json"):
        print_line(folder / name)
    print_line(f"outcome: {run.outcome}{'' if run.level is None else f' (level {run.level})'}")


def _print_result(result: StageResult, *, most: int | None = None) -> None:
    print_line(f"{result.stage}: {result.outcome}: {result.sentence}")
    for finding in result.findings[:most]:
        print_line(f"  {finding.line}")
