"""run, resume, demo: the whole pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backproof.commands.output import add_run_options, finish_run, say


class _StageName(click.ParamType[str]):
    """The name of a stage: the stages are imported when one is named, not when the help is printed."""

    name = "stage"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from backproof.app import execution

        return click.Choice(execution.NAMES).convert(value, param, ctx)


@click.command()
@click.argument("kit", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The run folder; an existing one is resumed."
)
@click.option("--from", "first", type=_StageName(), help="First stage; by default the first of all.")
@click.option("--to", "last", type=_StageName(), help="Last stage; by default the last of all.")
@add_run_options
def run(*, kit: Path, out: Path, first: str | None, last: str | None, as_json: bool, **options: Any) -> None:
    """Run the pipeline of KIT on a release branch and print the drafted comment."""
    from backproof.app import execution

    request = execution.Request(folder=out, kit=str(kit), **options)
    first, last = first or execution.NAMES[0], last or execution.NAMES[-1]
    finish_run(execution.run(request, say, first=first, last=last), out, as_json=as_json)


@click.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
@add_run_options
def resume(*, folder: Path, as_json: bool, **options: Any) -> None:
    """Go on with RUN: what is done and unchanged is reused."""
    from backproof.app import execution

    finish_run(execution.run(execution.Request(folder=folder, **options), say), folder, as_json=as_json)


@click.command("demo")
@click.argument("kit", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@click.option("--json", "as_json", is_flag=True, help="Print run.json instead of the comment.")
def demo_command(*, kit: Path | None, out: Path | None, as_json: bool) -> None:
    """Run KIT (by default the first under patches/) on a device without hardware, target environment included."""
    from backproof.app import demo

    done, folder = demo.run(kit, out, say)
    finish_run(done, folder, as_json=as_json)
