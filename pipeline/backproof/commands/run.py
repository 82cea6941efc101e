"""run, demo: the whole pipeline, a part of it, or one stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from backproof.commands.options import add_ending_options, add_run_options, json_option
from backproof.commands.output import finish_run, finish_stage, print_line, say

if TYPE_CHECKING:
    from backproof.rundir.context import Stage


class _StageName(click.ParamType[str]):
    """The name of a stage: the stages are imported when one is named, not when the help is printed."""

    name = "stage"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from backproof.app import execution

        return click.Choice(execution.NAMES).convert(value, param, ctx)


@click.command()
@click.argument("path", metavar="KIT|RUN", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), help="With KIT: the run folder; by default a new one below runs/."
)
@click.option("--from", "first", type=_StageName(), help="First stage; by default the first of all.")
@click.option("--to", "last", type=_StageName(), help="Last stage; by default the last of all.")
@click.option("--only", type=_StageName(), help="This stage alone. What it puts into the target stays until --undo.")
@click.option(
    "--undo",
    is_flag=True,
    help="Take what the run put into the target out again instead; RUN may be the site-packages, too.",
)
@click.option("--force", is_flag=True, help="With --undo: also overwrite files that somebody changed since.")
@click.option(
    "--mutate", is_flag=True, help="Try the proofs on wrong versions of the fix, too: see `backproof mutate`."
)
@add_ending_options
@add_run_options
def run(*, path: Path, out: Path | None, undo: bool, force: bool, mutate: bool, as_json: bool, **options: Any) -> None:
    """Run the pipeline of a kit on a release branch, or go on with a run, and draft the comment.

    Give a kit, by its path or its name, for a new run; or the folder of a run: what is done and unchanged is reused.

    Example: backproof run patches/19353 --repo ../vllm-ascend --python .venv/bin/python
    """
    from backproof.app import execution

    first, last, only = (options.pop(name) for name in ("first", "last", "only"))
    ending: dict[str, Any] = {"as_json": as_json, **{name: options.pop(name) for name in ("comment", "language")}}
    folder, kit = _locate(path, out)
    request = execution.Request(folder=folder, kit=kit, **options)
    if undo:
        print_line(execution.undo_overlay(request, say, force=force))
    elif only:
        finish_stage(execution.run_alone(request, say, only), only, as_json=as_json)
    else:
        first, last = first or execution.NAMES[0], last or execution.NAMES[-1]
        beside = _name_beside(mutate=mutate)
        done = execution.run_pipeline(request, say, first=first, last=last, beside=beside)
        finish_run(done, folder, **ending)


def _name_beside(*, mutate: bool) -> tuple[Stage, ...]:
    from backproof.stages import mutate as mutation

    return (mutation,) if mutate else ()


def _locate(path: Path, out: Path | None) -> tuple[Path, str | None]:
    """Return the run folder, and the kit where the path is one."""
    from backproof.app.execution import name_folder
    from backproof.kit.places import find_kit

    if path.is_dir() and not (path / "plan.toml").is_file() and out is None:
        return path, None
    kit = find_kit(path)
    return out or name_folder(kit.name), str(kit)


@click.command("mutate")
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--budget", "span", help="Time to spend, for example 45m; what is not tried then is counted as such.")
@json_option
def mutate_command(*, folder: Path, span: str | None, as_json: bool) -> None:
    """Try the proofs of a run on wrong versions of its fix: how many are caught is how strong the proof is.

    Each version differs from the fix in one place. It is caught when a proof is red on it by its claim; an error or a
    timeout is no catch. The list is in mutate/mutate.json, and the versions are in mutate/mutants.patch.
    """
    from backproof.app import execution
    from backproof.core import time_budget
    from backproof.stages import mutate

    options = mutate.MutateOptions(budget=time_budget.parse_budget(span))
    done = execution.run_on_request(execution.Request(folder=folder), say, mutate, options)
    finish_stage(done, mutate.NAME, as_json=as_json)


@click.command("demo")
@click.argument("kit", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@add_ending_options
@json_option
def demo_command(*, kit: Path | None, out: Path | None, **options: Any) -> None:
    """Run KIT (by default the first under patches/) on a device without hardware, target environment included.

    KIT is a path, or the name of a kit of patches/ or of Backproof itself.

    Example: backproof demo urllib3-2869
    """
    from backproof.app import demo

    done, folder = demo.run_demo(kit, out, say)
    finish_run(done, folder, **options)
