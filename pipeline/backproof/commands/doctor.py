"""doctor: the differences of this host from the validated one; with a run, kept there for its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import FOLDER, json_option
from backproof.commands.output import open_console, print_json, print_line, say
from backproof.core.plain_text import escape_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from backproof.records.host import Deviation, DoctorRecord


@click.command("doctor")
@click.option("--plan", "kit", type=click.Path(path_type=Path), help="The kit whose baseline counts; or the run's.")
@click.option("--python", type=click.Path(path_type=Path), help="The target's interpreter; or the run's.")
@click.option("--run", "folder", type=FOLDER, help="A run that keeps the comparison for its report.")
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor_command(
    *, kit: Path | None, python: Path | None, folder: Path | None, as_json: bool, arguments: Sequence[str]
) -> None:
    """Compare this host with the plan's validated baseline; launch ARGUMENTS of the service come after `--`.

    A deviation is not a cause. Works on a host without an NPU and says what it could not read. With --run, the
    comparison is evidence beside the proof: verdict and level of the run stay as they are.
    """
    from backproof.devices import DEVICES
    from backproof.host.baseline import compare_host
    from backproof.host.versions import read_versions
    from backproof.kit.loader import load_plan

    if folder is not None:
        record = _keep_in_run(folder, kit, python, arguments)
    elif kit is not None:
        record = compare_host(load_plan(kit, DEVICES).baseline, read_versions(python).readings, arguments)
    else:
        raise click.UsageError("Missing option '--plan' or '--run'.")
    _print_record(record, as_json=as_json)


def _keep_in_run(folder: Path, kit: Path | None, python: Path | None, arguments: Sequence[str]) -> DoctorRecord:
    from backproof.app import execution
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.records.host import DoctorRecord
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.loaded_run import require_run
    from backproof.rundir.subject import must_be_of_kit
    from backproof.stages import doctor

    if kit:
        must_be_of_kit(folder, require_run(Ledger(folder)), kit, load_plan(kit, DEVICES).id)
    named = execution.Request(folder=folder, kit=str(kit or ""), python=str(python or ""))
    execution.must_be_of_its_run(named)
    options = doctor.DoctorOptions(python=python, arguments=tuple(arguments))
    return execution.add_beside(folder, say, doctor, DoctorRecord, options, kit=named.kit or "")


def _print_record(record: DoctorRecord, *, as_json: bool) -> None:
    if as_json:
        rows = [row.model_dump(mode="json") for row in record.deviations]
        print_json({"schema_version": 1, "deviations": rows})
        return
    open_console().print(_build_table(record.deviations))
    for reading in record.unread:
        print_line(f"could not read {reading.name}: {reading.why}")


def _build_table(rows: Sequence[Deviation]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("what", "name", "validated", "here", "verdict", "note", caption="A deviation is not a cause.")
    for row in rows:
        cells = (row.subject, row.name, row.expected or "-", row.found or "-", row.verdict, row.note)
        table.add_row(*(Text(escape_line(cell)) for cell in cells))
    return table
