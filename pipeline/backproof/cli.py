"""The command line: a table of the commands, and an exit code for each kind of ending. Commands print their results."""

from __future__ import annotations

import ast
import gc
import importlib
import io
import os
import signal
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from backproof import __version__
from backproof.app.progress import shown_progress
from backproof.core.errors import BackproofError, ExitCode, HostError, Interrupted, explain_os_error
from backproof.core.plain_text import escape_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONTEXT: dict[str, Any] = {
    "auto_envvar_prefix": "BACKPROOF",
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}


SECTIONS: Final = {
    "Prove a backport": {
        "prove": "prove:prove",
        "run": "run:run",
        "demo": "run:demo_command",
        "mutate": "run:mutate_command",
    },
    "Read a run, hand it on": {
        "show": "show:show_command",
        "diff": "show:diff_command",
        "bundle": "bundle:bundle_command",
        "publish": "github:publish_command",
        "propose": "propose:propose_command",
        "audit": "github:audit",
    },
    "Kits": {"new": "new:new", "plan": "plan:plan_group"},
    "Failures": {"triage": "triage:triage_command", "find": "find:find_command"},
    "Groups": {
        "env": "environments:env_group",
        "history": "history:history_group",
        "host": "hardware:host_group",
        "ci": "actions:ci_group",
    },
}
"""The commands in the order of the help, each with its module in `commands` and its name there."""
COMMANDS: Final = {name: place for section in SECTIONS.values() for name, place in section.items()}


def read_summary(place: str) -> str:
    """Return the first sentence of a command's help from its source: importing all of them takes longer than the help."""
    module, _, function = place.partition(":")
    source = (Path(__file__).parent / "commands" / f"{module}.py").read_text(encoding="utf-8")
    definitions = {item.name: item for item in ast.parse(source).body if isinstance(item, ast.FunctionDef)}
    return click.Command(None, help=ast.get_docstring(definitions[function])).get_short_help_str(limit=400)


class LazyGroup(click.Group):
    """The commands, which are imported when they are called, not when they are listed."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # By these click finds the name that was meant; none of them is ever called.
        self.commands = {name: click.Command(name) for name in COMMANDS}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        module, _, attribute = COMMANDS.get(cmd_name, "").partition(":")
        if not module:
            return None
        command: click.Command = getattr(importlib.import_module(f"backproof.commands.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its whole first sentence: cut short, it does not say what the command is for."""
        del ctx
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, read_summary(place)) for name, place in section.items()])

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _refuse_closed_pipe():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _refuse_closed_pipe(), shown_progress():
            return super().invoke(ctx)


@contextmanager
def _refuse_closed_pipe() -> Iterator[None]:
    """Keep exit code 1 for a bad backport: click and rich both end with 1 when whatever reads our output has gone."""
    try:
        yield
    except (BrokenPipeError, SystemExit) as error:
        if not isinstance(error, BrokenPipeError) and not isinstance(error.__context__, BrokenPipeError):
            raise
        raise HostError(
            "the output was cut off",
            why="the program that reads it ended first",
            next_step="write the output to a file, or read it to its end",
        ) from error


@click.group(cls=LazyGroup, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="backproof")
def cli() -> None:
    """Prove a backport: what ran is what was picked, the fault happens without it and not with it.

    Exit codes: 0 pass, 1 the backport is bad, 2 usage or plan invalid, 3 a person is needed (conflict, drift),
    4 could not tell (host, device, network), 70 a bug in Backproof, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command; every exception becomes three sentences and a documented exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
    gc.set_threshold(50_000)  # a start makes tens of thousands of objects, and none of them is garbage
    sys.exit(_run_guarded(list(sys.argv[1:] if argv is None else argv)))


def _run_guarded(argv: list[str]) -> int:
    try:
        return cli.main(args=argv, prog_name="backproof", standalone_mode=False) or ExitCode.PASS
    except click.ClickException as error:
        usage = io.StringIO()
        error.show(usage)
        _write_error(usage.getvalue().rstrip())
        return ExitCode.USAGE
    except BackproofError as error:
        return _report(error)
    except (KeyboardInterrupt, click.Abort):
        return _report(
            Interrupted(
                "interrupted", why="a signal or the user stopped the run", next_step="`backproof run RUN` goes on"
            )
        )
    except OSError as error:
        return _report(explain_os_error(error))
    except Exception as error:  # noqa: BLE001 - the one place where a bug is caught
        from backproof.app import crash  # noqa: PLC0415 - not on the way of a run that goes well

        path = crash.write_crash(error, argv)
        why = f"{type(error).__name__}: {error}"
        _write_error(f"error: this is a bug in Backproof\n  why: {why}\n  next: attach {path} to an issue")
        return ExitCode.BUG


def _report(error: BackproofError) -> int:
    _write_error(f"error: {error}")
    return error.exit_code


def _write_error(text: str) -> None:
    from backproof.core.redaction import redact  # noqa: PLC0415 - its patterns take longer than the rest of this module

    with _allow_closed_streams():
        # Controls go first: one inside a secret would hide it from the mask.
        click.echo(redact(escape_text(text)), err=True)


@contextmanager
def _allow_closed_streams() -> Iterator[None]:
    """Leave it to the exit code where nobody reads stderr any more either."""
    with suppress(OSError):
        yield
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            # The interpreter flushes once more when it ends, and would make the exit code 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
