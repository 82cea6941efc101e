"""The one place that prints: progress, lines, documents, JSON and tables, and how a run ended.

Titles, paths and sentences come from outside. Nothing here lets a control character reach the terminal, or a line become
a command of GitHub Actions; a test holds that no other module of the commands prints.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.app import progress
from backproof.app.progress import say
from backproof.core.plain_text import dump_json, escape_line, escape_text

if TYPE_CHECKING:
    from rich.console import Console

    from backproof.core.model import Record
    from backproof.records.proof import Run, StageResult
    from backproof.report.catalogue import Language
    from backproof.upstream.actions import Actions


__all__ = ["say"]

_PIPED = 10_000
"""Columns of what no terminal shows."""


def open_console() -> Console:
    """Return where tables of a result go. A line that goes to a file or another program is not broken to fit 80 columns."""
    from rich.console import Console

    progress.pause()
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED
    return Console(highlight=False, width=width)


def print_line(text: object, *, err: bool = False) -> None:
    """Print one line, whatever is in it."""
    _echo(escape_line(str(text)), err=err)


def print_text(text: str) -> None:
    """Print a document of several lines."""
    _echo(escape_text(text), nl=not text.endswith("\n"))


def print_json(value: Record | dict[str, Any]) -> None:
    _echo(dump_json(value if isinstance(value, dict) else value.model_dump(mode="json", by_alias=True)))


def print_exact(text: str | bytes) -> None:
    """Print what another program reads byte by byte, such as a script; a terminal still gets no control character."""
    if sys.stdout.isatty():
        text = escape_text(text if isinstance(text, str) else text.decode("utf-8", "replace"))
    _echo(text, nl=isinstance(text, str))


def _echo(text: str | bytes, *, err: bool = False, nl: bool = True) -> None:
    progress.pause()
    click.echo(text, err=err, nl=nl)


def actions_job(*, err: bool = False) -> Actions | None:
    """Return the job of GitHub Actions that this runs in; None elsewhere."""
    from backproof.upstream.actions import Actions

    return Actions.here(lambda line: click.echo(line, err=err))


def finish_run(run: Run, folder: Path, *, as_json: bool, comment: bool = False, language: Language = "en") -> NoReturn:
    """Print what came of a run, and end with its exit code."""
    if as_json:
        print_json(run)
    elif comment:
        print_text((folder / run.files["comment.md"]).read_text(encoding="utf-8"))
    else:
        _print_screen(run, folder, language)
    sys.exit(run.outcome.exit_code)


def _print_screen(run: Run, folder: Path, language: Language) -> None:
    from rich.text import Text

    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.report.render import render_screen
    from backproof.rundir.ledger import Ledger
    from backproof.stages import REGISTRY
    from backproof.verdict.run_verdict import read_run

    loaded = read_run(Ledger(folder), run, REGISTRY)
    plan = load_plan(Path(run.settings.kit), DEVICES)
    text = escape_text(render_screen(replace(loaded, folder=str(folder)), plan, language=language))
    console = open_console()
    # A path stays whole, however long: in two pieces it cannot be copied, nor found by a script.
    lines: list[Text] = []
    for line in text.splitlines():
        whole = line.startswith(escape_text(str(folder)))
        lines += [Text(line)] if whole else Text(line).wrap(console, console.width)
    if console.is_terminal and len(lines) >= console.height:
        lines = [*lines[: console.height - 4], Text("…"), *lines[-2:]]
    console.print(Text("\n").join(lines), soft_wrap=True)


def finish_stage(run: Run, name: str, *, as_json: bool) -> NoReturn:
    """Print what came of one stage and what the run is with it, and end with the stage's exit code."""
    result = next(stage for stage in run.stages if stage.stage == name)
    if as_json:
        print_json(run)
    else:
        _print_result(result)
        print_line(f"the run: {run.sentence}")
    sys.exit(result.outcome.exit_code)


def _print_result(result: StageResult) -> None:
    print_line(f"{result.stage}: {result.outcome}: {result.sentence}")
    for finding in result.findings:
        print_line(f"  {finding.line}")
