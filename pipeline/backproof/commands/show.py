"""show, diff: a run in the terminal, again and again. These commands only read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backproof.commands.options import FOLDER, json_option
from backproof.commands.output import print_json, print_line
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.core.model import Record
    from backproof.records.proof import StageResult
    from backproof.report.view import RunView, StageView


@click.command("show")
@click.argument("folder", metavar="[RUN|FOLDER]", type=FOLDER, required=False)
@click.option("--stage", "name", metavar="NAME", help="Of a run: only this stage, with its findings and its evidence.")
@json_option
def show_command(*, folder: Path | None, name: str | None, as_json: bool) -> None:
    """Show a run: verdict, arms, stages, claims, checks, and whether its evidence still holds; or list the runs in a folder.

    By default the newest run in runs/; `show runs` lists them. Exit code 0 whatever a run's outcome was: the question was
    answered.

    Example: backproof show --stage validate
    """
    from backproof.commands.views import run
    from backproof.rundir import listing

    if folder is None:
        folder = next((Path("runs") / row.folder for row in listing.list_runs(Path("runs")).runs), Path("runs"))
    if name is None and not (folder / "run.json").is_file():
        runs = listing.list_runs(folder)
        print_json(runs) if as_json else run.print_runs(runs)
        if not (runs.runs or as_json):
            print_line(f"no run in {folder}")
        return
    view = _read_view(folder)
    if name is not None:
        stage = _find_stage(view, name)
        print_json(_list_stage_facts(view, stage.result)) if as_json else run.print_stage(view, stage)
    elif as_json:
        print_json({"schema_version": 1, "run": _dump(view.run), "altered": list(view.altered)})
    else:
        run.print_run(view)


@click.command("diff")
@click.argument("before", metavar="RUN", type=FOLDER)
@click.argument("after", metavar="RUN", type=FOLDER)
@json_option
def diff_command(*, before: Path, after: Path, as_json: bool) -> None:
    """Tell what changed from the first RUN to the second: code, environment, outcome.

    Exit code 0 whether they differ or not.
    """
    from backproof.commands.views import run
    from backproof.report import run_diff

    diff = run_diff.compare_runs(_read_view(before), _read_view(after))
    print_json(diff) if as_json else run.print_diff(diff)


def _read_view(folder: Path) -> RunView:
    """Read the run as its folder shows it now; its verdict is judged again, for evidence may be gone since.

    Raises:
        PlanError: there is no run of this version.
    """
    from backproof.report.view import RunView
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.loaded_run import require_run
    from backproof.stages import REGISTRY
    from backproof.verdict import run_verdict

    ledger = Ledger(folder)
    return RunView(loaded=run_verdict.read_run(ledger, require_run(ledger), REGISTRY))


def _find_stage(view: RunView, name: str) -> StageView:
    stages = {stage.result.stage: stage for stage in reversed(view.stages)}
    if name not in stages:
        raise PlanError(
            f"{name}: no such stage in this run",
            why=f"it has: {', '.join(reversed(stages)) or 'none'}",
            next_step="name one of these",
        )
    return stages[name]


def _list_stage_facts(view: RunView, result: StageResult) -> dict[str, Any]:
    """Return the stage's result, what its record says, and which of its evidence does not hold."""
    kind = view.loaded.registry.record_of(result.stage)
    record = view.loaded.find_record(kind) if kind else None
    return {
        "schema_version": 1,
        "stage": _dump(result),
        "record": _dump(record) if record else None,
        "altered": sorted(item.path for item in result.evidence if item.path in view.altered),
    }


def _dump(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json", by_alias=True)
