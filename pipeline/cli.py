"""The command line: options to requests, results to stdout, progress to stderr, exceptions to exit codes."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
from rich.console import Console

from pipeline import __version__, app, crash, demo, plan
from pipeline.errors import BackproofError, ExitCode, Interrupted
from pipeline.runner import host_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipeline.records import Run

CONTEXT: dict[str, Any] = {
    "auto_envvar_prefix": "BACKPROOF",
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}


def say(text: str) -> None:
    """Progress: one plain line on stderr; stdout is for results."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="backproof")
def cli() -> None:
    """Prove a backport: what ran is what was picked, the fault happens without it and not with it.

    Exit codes: 0 pass, 1 the backport is bad, 2 usage or plan invalid, 3 a person is needed (conflict, drift),
    4 could not tell (host, device, network), 70 a bug of ours, 130 interrupted.
    """


def run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where a run works."""
    options = (
        click.option("--repo", help="The upstream repository: a path or a URL. It is only read."),
        click.option("--branch", help="The release branch; by default the plan's first."),
        click.option("--python", help="The target's interpreter."),
        click.option("--device", help="Where checks run: ascend or emulator.", show_default="emulator"),
        click.option("--signoff/--no-signoff", default=None, help="Add a Signed-off-by line to each commit."),
        click.option("--json", "as_json", is_flag=True, help="Print run.json instead of the comment."),
    )
    for option in reversed(options):
        function = option(function)
    return function


@cli.command()
@click.argument("kit", type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="The run folder; an existing one is resumed."
)
@click.option("--from", "first", type=click.Choice(app.NAMES), default=app.NAMES[0], help="First stage.")
@click.option("--to", "last", type=click.Choice(app.NAMES), default=app.NAMES[-1], help="Last stage.")
@run_options
def run(*, kit: Path, out: Path, first: str, last: str, as_json: bool, **options: Any) -> None:
    """Run the pipeline of KIT on a release branch and print the drafted comment."""
    request = app.Request(folder=out, kit=str(kit), **options)
    _finish(app.run(request, say, first=first, last=last), out, as_json=as_json)


@cli.command()
@click.argument("folder", metavar="RUN", type=click.Path(path_type=Path, exists=True, file_okay=False))
@run_options
def resume(*, folder: Path, as_json: bool, **options: Any) -> None:
    """Go on with RUN: what is done and unchanged is reused."""
    _finish(app.run(app.Request(folder=folder, **options), say), folder, as_json=as_json)


def _stage_command(name: str, text: str) -> None:
    @cli.command(name, help=text)
    @click.option("--run", "folder", type=click.Path(path_type=Path), required=True, help="The run folder.")
    @click.option("--kit", help="The kit, for a new run folder.")
    @run_options
    def command(*, folder: Path, as_json: bool, **options: Any) -> None:
        done = app.stage(app.Request(folder=folder, **options), say, name)
        result = next(each for each in done.stages if each.stage == name)
        _print_json(done) if as_json else click.echo(f"{name}: {result.outcome}: {result.sentence}")
        for finding in () if as_json else result.findings:
            click.echo(f"  {finding.severity}: {finding.where + ': ' if finding.where else ''}{finding.text}")
        sys.exit(result.outcome.exit_code)


_stage_command("pick", "Cherry-pick the plan's commits in our own store.")
_stage_command("fixup", "Land the kit's fix-ups on top of the pick.")
_stage_command("verify", "Prove that the installed, loaded and reached code is the picked code.")
_stage_command("validate", "Run the kit's checks on the arms base, pick and fixed.")
_stage_command("report", "Write comment.md, report.html and junit.xml from what the run folder holds.")


@cli.command()
@click.option("--run", "folder", type=click.Path(path_type=Path), required=True, help="The run folder.")
@click.option("--kit", help="The kit, for a new run folder.")
@click.option("--undo", is_flag=True, help="Take the overlay out again instead.")
@click.option("--force", is_flag=True, help="With --undo: also overwrite files that somebody changed since.")
@run_options
def install(*, folder: Path, undo: bool, force: bool, as_json: bool, **options: Any) -> None:
    """Put the fixed code into the target and leave it there until --undo."""
    request = app.Request(folder=folder, **options)
    if undo:
        click.echo(app.undo(request, say, force=force))
        return
    done = app.stage(request, say, "install")
    result = next(each for each in done.stages if each.stage == "install")
    _print_json(done) if as_json else click.echo(f"install: {result.outcome}: {result.sentence}")
    for finding in () if as_json else result.findings:
        click.echo(f"  {finding.severity}: {finding.text}")
    sys.exit(result.outcome.exit_code)


@cli.group("plan")
def plan_group() -> None:
    """Look at a kit's plan."""


@plan_group.command("check")
@click.argument("kit", type=click.Path(path_type=Path))
def plan_check(kit: Path) -> None:
    """Check plan.toml of KIT: every error at once."""
    found = plan.load(kit)
    click.echo(
        f"{kit}: plan {found.id} is valid: {len(found.check)} checks, {len(found.fixup)} fix-ups, {len(found.branch)} branches"
    )


@plan_group.command("schema")
def plan_schema() -> None:
    """Print the JSON schema of plan.toml."""
    click.echo(json.dumps(plan.schema(), indent=2))


@cli.command("demo")
@click.argument("kit", type=click.Path(path_type=Path), required=False)
@click.option("--out", type=click.Path(path_type=Path), help="The run folder; by default a new one under runs/.")
@click.option("--json", "as_json", is_flag=True, help="Print run.json instead of the comment.")
def demo_command(*, kit: Path | None, out: Path | None, as_json: bool) -> None:
    """Run KIT (by default the first under patches/) on the embedded device, target environment included."""
    done, folder = demo.run(kit, out, say)
    _finish(done, folder, as_json=as_json)


def _finish(done: Run, folder: Path, *, as_json: bool) -> NoReturn:
    if as_json:
        _print_json(done)
    else:
        _print_story(done, folder)
    sys.exit(done.outcome.exit_code)


def _print_story(done: Run, folder: Path) -> None:
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


def _print_json(done: Run) -> None:
    click.echo(json.dumps(done.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False))


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """The entry point: every exception becomes three sentences and a documented exit code."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(_guarded(list(sys.argv[1:] if argv is None else argv)))


def _guarded(argv: list[str]) -> int:  # noqa: PLR0911 - one return per kind of ending
    try:
        cli.main(args=argv, prog_name="backproof", standalone_mode=False)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return ExitCode.USAGE
    except BackproofError as error:
        return _told(error)
    except (KeyboardInterrupt, click.Abort):
        return _told(
            Interrupted(
                "interrupted", why="a signal or the user stopped the run", next_step="`backproof resume RUN` goes on"
            )
        )
    except OSError as error:
        return _told(host_error(error))
    except Exception as error:  # noqa: BLE001 - the one place where a bug of ours is caught
        path = crash.write(error, argv)
        click.echo(
            f"error: this is a bug of Backproof\n  why: {type(error).__name__}: {error}\n  next: attach {path} to an issue",
            err=True,
        )
        return ExitCode.BUG
    return ExitCode.PASS


def _told(error: BackproofError) -> int:
    click.echo(f"error: {error}", err=True)
    return error.exit_code


def _terminated(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
