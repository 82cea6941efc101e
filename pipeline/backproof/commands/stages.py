"""Each stage alone, on a run folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backproof.commands.output import add_run_options, print_json, print_line, print_result, say

if TYPE_CHECKING:
    from backproof.records.proof import Run

_run = click.option("--run", "folder", type=click.Path(path_type=Path), required=True, help="The run folder.")
_kit = click.option("--kit", help="The kit, for a new run folder.")


def _alone(name: str, text: str) -> click.Command:
    @click.command(name, help=text)
    @_run
    @_kit
    @add_run_options
    def command(*, folder: Path, as_json: bool, **options: Any) -> None:
        from backproof.app import execution

        _tell(execution.run_alone(execution.Request(folder=folder, **options), say, name), name, as_json=as_json)

    return command


def _tell(done: Run, name: str, *, as_json: bool) -> None:
    result = next(each for each in done.stages if each.stage == name)
    if as_json:
        print_json(done)
    else:
        print_result(result)
    sys.exit(result.outcome.exit_code)


pick = _alone("pick", "Cherry-pick the plan's commits in our own store.")
fixup = _alone("fixup", "Land the kit's fix-ups on top of the pick.")
verify = _alone("verify", "Prove that the installed, loaded and reached code is the picked code.")
validate = _alone("validate", "Run the kit's checks on the arms base, pick and fixed.")
report = _alone("report", "Write comment.md, report.html and junit.xml from what the run folder holds.")


@click.command()
@_run
@_kit
@click.option("--undo", is_flag=True, help="Take the overlay out again instead.")
@click.option("--force", is_flag=True, help="With --undo: also overwrite files that somebody changed since.")
@add_run_options
def install(*, folder: Path, undo: bool, force: bool, as_json: bool, **options: Any) -> None:
    """Put the fixed code into the target and leave it there until --undo."""
    from backproof.app import execution

    request = execution.Request(folder=folder, **options)
    if undo:
        print_line(execution.undo(request, say, force=force))
        return
    _tell(execution.run_alone(request, say, "install"), "install", as_json=as_json)
