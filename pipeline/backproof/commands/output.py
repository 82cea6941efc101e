"""What the commands that run stages share: their options, progress, and how a run is told."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.core.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rich.console import Console

    from backproof.core.model import Record
    from backproof.records.proof import Run


_PIPED = 10_000
"""Columns of what no terminal shows."""


def console() -> Console:
    """Where tables and text of a result go. A line that goes to a file or another program is not broken to fit 80 columns."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPED
    return Console(highlight=False, width=width)


def say(text: str) -> None:
    """Progress: one plain line on stderr; stdout is for results."""
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where a run works."""
    from backproof.devices import DEFAULT, DEVICES

    options = (
        click.option("--repo", help="The upstream repository: a path or a URL. It is only read."),
        click.option("--branch", help="The release branch; by default the plan's first."),
        click.option("--python", help="The target's interpreter."),
        click.option("--device", help=f"Where checks run: {', '.join(DEVICES)}.", show_default=DEFAULT),
        click.option("--signoff/--no-signoff", default=None, help="Add a Signed-off-by line to each commit."),
        click.option("--json", "as_json", is_flag=True, help="Print run.json instead of the comment."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def finish(done: Run, folder: Path, *, as_json: bool) -> NoReturn:
    if as_json:
        print_json(done)
    else:
        print_story(done, folder)
    sys.exit(done.outcome.exit_code)


def print_story(done: Run, folder: Path) -> None:
    comment = folder / done.files.get("comment.md", "comment.md")
    if comment.exists():
        click.echo(comment.read_text(encoding="utf-8"))
    for result in done.stages:
        if result.outcome.exit_code is not ExitCode.PASS:
            click.echo(f"{result.stage}: {result.outcome}: {result.sentence}")
            for finding in result.findings[:10]:
                click.echo(f"  {finding.severity}: {finding.where + ': ' if finding.where else ''}{finding.text}")
    for name in (*done.files.values(), "run.json"):
        click.echo(f"{folder / name}")
    click.echo(f"outcome: {done.outcome} (level {done.level})")


def print_json(record: Record) -> None:
    click.echo(json.dumps(record.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False))
