"""rules, doctor, capture: what triage goes by, and how a host differs from the validated one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline import capture as capturing
from pipeline import doctor as doctoring
from pipeline import plan
from pipeline.errors import ExitCode
from pipeline.triage import rules, terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipeline.records_doctor import Deviation


@click.group("rules")
def rules_group() -> None:
    """The rules of triage."""


@rules_group.command("test")
@click.option("--folder", type=click.Path(path_type=Path, exists=True, file_okay=False), help="Other rules than ours.")
def rules_test(*, folder: Path | None) -> None:
    """Each rule must match its example and not its counterexample."""
    failures = rules.selftest(folder)
    for each in failures:
        click.echo(f"{each.rule}: {each.problem}")
    if failures:
        sys.exit(ExitCode.USAGE)
    click.echo("every rule holds its example and its counterexample")


@click.command("doctor")
@click.option("--plan", "kit", type=click.Path(path_type=Path), required=True, help="The kit whose baseline counts.")
@click.option("--python", type=click.Path(path_type=Path), help="The target's interpreter.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor_command(*, kit: Path, python: Path | None, as_json: bool, arguments: Sequence[str]) -> None:
    """Compare this host with the plan's validated baseline; launch ARGUMENTS of the service come after `--`.

    A deviation is not a cause. Works on a host without an NPU and says what it could not read.
    """
    baseline = plan.load(kit).baseline
    readings = doctoring.read(python)
    rows = [*doctoring.compare(readings, baseline.versions)]
    rows += doctoring.compare_arguments(baseline.arguments, arguments) if arguments else ()
    rows += doctoring.compare_environment(baseline.environment, os.environ)
    if as_json:
        click.echo(
            json.dumps({"schema_version": 1, "deviations": [each.model_dump(mode="json") for each in rows]}, indent=2)
        )
        return
    Console(highlight=False).print(_table(rows))
    for reading in readings:
        if reading.value is None:
            click.echo(f"could not read {reading.name}: {reading.why}")


def _table(rows: Sequence[Deviation]) -> Table:
    table = Table("what", "name", "validated", "here", "verdict", "note", caption="A deviation is not a cause.")
    for each in rows:
        cells = (each.subject, each.name, each.expected or "-", each.found or "-", each.verdict, each.note)
        table.add_row(*(Text(terminal.plain(cell)) for cell in cells))
    return table


@click.group("capture")
def capture_group() -> None:
    """Collect what a crash leaves: old logs are moved aside, never deleted; nothing is killed."""


@capture_group.command("start", context_settings={"ignore_unknown_options": True})
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the capture.")
@click.argument("argv", metavar="COMMAND...", nargs=-1, type=click.UNPROCESSED)
def capture_start(*, out: Path, argv: Sequence[str]) -> None:
    """Prepare a capture and print the command line to start the service with."""
    out.mkdir(parents=True, exist_ok=True)
    session = capturing.start(argv, out)
    if session.moved:
        click.echo(f"old logs were moved to {session.moved}", err=True)
    click.echo(session.command)


@capture_group.command("stop")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="The folder of the capture.")
def capture_stop(*, out: Path) -> None:
    """Collect plogs, dmesg and npu-smi into one archive with a manifest."""
    manifest = capturing.stop(out)
    for note in manifest.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(f"{out / manifest.archive}: {len(manifest.files)} files")
