"""show, diff, runs: the story of a run in the terminal, again and again. These commands only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backproof.commands.output import print_json
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.core.model import Record
    from backproof.records.proof import StageResult
    from backproof.rundir.loaded_run import LoadedRun

_folder = click.Path(path_type=Path, exists=True, file_okay=False)
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


@click.command("show")
@click.argument("folder", metavar="RUN", type=_folder)
@click.option("--stage", "name", metavar="NAME", help="Only this stage, with its findings and its evidence.")
@_json
def show_command(*, folder: Path, name: str | None, as_json: bool) -> None:
    """Tell the story of RUN: verdict, arms, stages, claims, checks, and whether its evidence still holds.

    Exit code 0 whatever the run's outcome was: the question was answered.
    """
    from backproof.commands.views import run

    found = _read(folder)
    if name is not None:
        result = _stage(found, name)
        print_json(_stage_facts(found, result)) if as_json else run.stage(found, result)
    elif as_json:
        print_json({"schema_version": 1, "run": _dumped(found.run), "altered": sorted(found.altered)})
    else:
        run.run(found)


@click.command("diff")
@click.argument("before", metavar="RUN", type=_folder)
@click.argument("after", metavar="RUN", type=_folder)
@_json
def diff_command(*, before: Path, after: Path, as_json: bool) -> None:
    """Tell what changed from the first RUN to the second: code, environment, outcome.

    Exit code 0 whether they differ or not.
    """
    from backproof.commands.views import run
    from backproof.report import run_diff

    found = run_diff.compare(_read(before), _read(after))
    print_json(found) if as_json else run.difference(found)


@click.command("runs")
@click.argument("folder", metavar="[FOLDER]", type=_folder, default=Path("runs"))
@_json
def runs_command(*, folder: Path, as_json: bool) -> None:
    """List the runs in FOLDER (by default runs/), newest first."""
    from backproof.commands.views import run
    from backproof.rundir import listing

    found = listing.runs(folder)
    print_json(found) if as_json else run.listed(found)


def _read(folder: Path) -> LoadedRun:
    """The run as its folder shows it now; its verdict is judged again, for evidence may be gone since.

    Raises:
        PlanError: there is no run of this version.
    """
    from backproof.rundir import loaded_run
    from backproof.rundir.ledger import Ledger
    from backproof.stages import REGISTRY
    from backproof.verdict import run_verdict

    ledger = Ledger(folder)
    run = loaded_run.require_run(ledger)
    judged = run_verdict.summarise(run, ledger, REGISTRY)
    return loaded_run.read(ledger, run_verdict.as_left(run, judged), REGISTRY)


def _stage(found: LoadedRun, name: str) -> StageResult:
    result = next((each for each in found.stages if each.stage == name), None)
    if result is None:
        raise PlanError(
            f"{name}: no such stage in this run",
            why=f"it has: {', '.join(each.stage for each in found.stages) or 'none'}",
            next_step="name one of these",
        )
    return result


def _stage_facts(found: LoadedRun, result: StageResult) -> dict[str, Any]:
    """The stage's result, what its record says, and which of its evidence does not hold."""
    kind = found.registry.record_of(result.stage)
    record = found.record(kind) if kind else None
    return {
        "schema_version": 1,
        "stage": _dumped(result),
        "record": _dumped(record) if record else None,
        "altered": sorted(each.path for each in result.evidence if each.path in found.altered),
    }


def _dumped(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json", by_alias=True)
