"""run, demo: the whole pipeline, a part of it, or one stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from backproof.commands.options import add_run_options
from backproof.commands.output import finish_run, finish_stage, print_line, say


class _StageName(click.ParamType[str]):
    """The name of a stage: the stages are imported when one is named, not when the help is printed."""

    name = "stage"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from backproof.app import execution

        return click.Choice(execution.NAMES).convert(value, param, ctx)


@click.command()
@click.argument("path", metavar="KIT|RUN", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="With KIT: the run folder; one that exists goes on.")
@click.option("--from", "first", type=_StageName(), help="First stage; by default the first of all.")
@click.option("--to", "last", type=_StageName(), help="Last stage; by default the last of all.")
@click.option("--only", type=_StageName(), help="This stage alone. What it puts into the target stays until --undo.")
@click.option(
    "--undo",
    is_flag=True,
    help="Take what the run put into the target out again instead; RUN may be the site-packages, too.",
)
@click.option("--force", is_flag=True, help="With --undo: also overwrite files that somebody changed since.")
@add_run_options
def run(*, path: Path, out: Path | None, undo: bool, force: bool, as_json: bool, **options: Any) -> None:
    """Run the pipeline of a kit on a release branch, or go on with a run, and print the drafted comment.

    Give a kit and --out for a new run, or the folder of a run that exists: what is done and unchanged is reused.
    """
    from backproof.app import execution

    first, last, only = (options.pop(name) for name in ("first", "last", "only"))
    folder, kit = _locate(path, out)
    request = execution.Request(folder=folder, kit=kit, **options)
    if undo:
        print_line(execution.undo_overlay(request, say, force=force))
    elif only:
        finish_stage(execution.run_alone(request, say, only), only, as_json=as_json)
    else:
        first, last = first or execution.NAMES[0], last or execution.NAMES[-1]
        finish_run(execution.run_pipeline(request, say, first=first, last=last), folder, as_json=as_json)


def _locate(path: Path, out: Path | None) -> tuple[Path, str | None]:
    """Return the run folder, and the kit where the path is one."""
    if out is not None:
        return out, str(path)
    if (path / "plan.toml").is_file():
        raise click.UsageError("Missing option '--out': where a new run goes.")
    if not path.is_dir():
        raise click.UsageError(f"{path}: neither a kit nor the folder of a run.")
    return path, None


@click.command("demo")
@click.argument("kit", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@click.option("--json", "as_json", is_flag=True, help="Print run.json instead of the comment.")
def demo_command(*, kit: Path | None, out: Path | None, as_json: bool) -> None:
    """Run KIT (by default the first under patches/) on a device without hardware, target environment included."""
    from backproof.app import demo

    done, folder = demo.run_demo(kit, out, say)
    finish_run(done, folder, as_json=as_json)
