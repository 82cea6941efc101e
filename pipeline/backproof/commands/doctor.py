"""doctor: how a host differs from the validated one; with a run, also kept there for its report."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table
from rich.text import Text

from backproof.app import execution
from backproof.commands.output import console
from backproof.core.model import Outcome
from backproof.core.redaction import redact
from backproof.devices.ascend import host_identity
from backproof.host import baseline as doctoring
from backproof.kit import plan
from backproof.records.host import DoctorRecord
from backproof.records.proof import StageResult
from backproof.rundir import side_results, subject
from backproof.rundir.ledger import Ledger, now
from backproof.triage import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.kit.plan import Plan
    from backproof.records.host import Deviation

_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@click.command("doctor")
@click.option("--plan", "kit", type=click.Path(path_type=Path), help="The kit whose baseline counts; or the run's.")
@click.option("--python", type=click.Path(path_type=Path), help="The target's interpreter; or the run's.")
@click.option("--run", "folder", type=_FOLDER, help="A run that keeps the comparison for its report.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def doctor_command(
    *, kit: Path | None, python: Path | None, folder: Path | None, as_json: bool, arguments: Sequence[str]
) -> None:
    """Compare this host with the plan's validated baseline; launch ARGUMENTS of the service come after `--`.

    A deviation is not a cause. Works on a host without an NPU and says what it could not read. With --run, the
    comparison is evidence beside the proof: verdict and level of the run stay as they are.
    """
    if folder is not None:
        found = _kept(Ledger(folder), kit, python, arguments)
    elif kit is not None:
        found = _looked(plan.load(kit), python, arguments)
    else:
        raise click.UsageError("Missing option '--plan' or '--run'.")
    _print(found, as_json=as_json)


def _kept(ledger: Ledger, kit: Path | None, python: Path | None, arguments: Sequence[str]) -> DoctorRecord:
    with ledger.locked():
        run = side_results.known(ledger)
        the_plan = plan.load(kit or Path(run.settings.kit))
        subject.must_be_of_kit(ledger.folder, run, the_plan.id)
        execution.must_be_of_its_run(
            execution.Request(folder=ledger.folder, kit=str(kit or ""), python=str(python or ""))
        )
        found = _looked(the_plan, python or Path(run.settings.python), arguments)
        _keep(ledger, found)
    return found


def _looked(the_plan: Plan, python: Path | None, arguments: Sequence[str]) -> DoctorRecord:
    baseline, here = the_plan.baseline, host_identity.here()
    readings = doctoring.read(python)
    rows = [*doctoring.compare(readings, baseline.versions)]
    rows += doctoring.compare_arguments(baseline.arguments, arguments) if arguments else ()
    rows += doctoring.compare_environment(baseline.environment, os.environ)
    return DoctorRecord(
        at=now(),
        host=here.host,
        boot_id=here.boot_id,
        deviations=tuple(rows),
        unread=tuple(each for each in readings if each.value is None),
    )


def _keep(ledger: Ledger, found: DoctorRecord) -> None:
    """What the environment holds may be secret; the file is for others to read."""
    rows = tuple(
        each.model_copy(update={"found": None if each.found is None else redact(each.found)})
        for each in found.deviations
    )
    file = ledger.write("doctor/doctor.json", found.model_copy(update={"deviations": rows}))
    claim = "this host beside what the release was validated with"
    evidence = ledger.evidence(file, claim=claim, command=f"backproof doctor --run {ledger.folder}")
    result = StageResult(stage="doctor", outcome=Outcome.PASS, sentence=found.sentence, evidence=(evidence,))
    side_results.keep(ledger, result)


def _print(found: DoctorRecord, *, as_json: bool) -> None:
    if as_json:
        rows = [each.model_dump(mode="json") for each in found.deviations]
        click.echo(json.dumps({"schema_version": 1, "deviations": rows}, indent=2))
        return
    console().print(_table(found.deviations))
    for reading in found.unread:
        click.echo(f"could not read {reading.name}: {reading.why}")


def _table(rows: Sequence[Deviation]) -> Table:
    table = Table("what", "name", "validated", "here", "verdict", "note", caption="A deviation is not a cause.")
    for each in rows:
        cells = (each.subject, each.name, each.expected or "-", each.found or "-", each.verdict, each.note)
        table.add_row(*(Text(terminal.plain(cell)) for cell in cells))
    return table
