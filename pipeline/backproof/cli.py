"""The command line: a table of the commands, and an exit code for each kind of ending. Commands print their results."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from backproof import __version__
from backproof.core.errors import BackproofError, ExitCode, HostError, Interrupted, explain_os_error
from backproof.core.plain_text import escape_text
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONTEXT: dict[str, Any] = {
    "auto_envvar_prefix": "BACKPROOF",
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A command: where it is in `commands`, and the first sentence of its own help; or a group of such."""

    summary: str
    place: str = ""
    commands: Mapping[str, Entry] = field(default_factory=dict)


_HISTORY: Final = {
    "survey": Entry(
        place="history:survey_command",
        summary="Tell for each release branch whether it has the fix, needs it, and takes it.",
    ),
    "explain": Entry(
        place="history:explain_command", summary="Say why COMMIT does not land on a branch, and how to go on."
    ),
    "compare": Entry(
        place="history:compare_command",
        summary="Tell whether BACKPORT (a commit, or base..head) is the same as its originals.",
    ),
    "redundant": Entry(
        place="history:redundant_command", summary="Tell which commits of a pull request together change nothing."
    ),
    "reproduce": Entry(
        place="history:reproduce_command",
        summary="Print a shell script of the steps that RUN took; running it gives the same trees.",
    ),
}
_HOST: Final = {
    "doctor": Entry(
        place="doctor:doctor_command",
        summary="Compare this host with the plan's validated baseline; launch ARGUMENTS of the service come after `--`.",
    ),
    "inventory": Entry(
        place="hardware:inventory",
        summary="Say what this NPU host is: chips, health, driver, firmware, CANN, packages; and why something is unread.",
    ),
    "capture": Entry(
        place="logs:capture_group",
        summary="Collect the traces of a crash: old logs are moved aside, never deleted; nothing is killed.",
    ),
    "serve": Entry(
        place="hardware:serve_command",
        summary="Serve the plan's model under load, step by step and arm by arm; stop at the first failure and say what came first.",
    ),
    "experiment": Entry(
        place="hardware:experiment",
        summary="Run the experiment NAME of the plan: two configurations that differ in one variable.",
    ),
    "upstream-tests": Entry(
        place="hardware:upstream_tests",
        summary="Run the target's own tests that the plan selects, with the backport and without it.",
    ),
}
_CI: Final = {
    "matrix": Entry(
        place="actions:matrix_command",
        summary="Print the matrix of KIT for a workflow: release branches by devices, one line of JSON.",
    ),
    "merge": Entry(
        place="actions:merge_command",
        summary="Join the runs of a matrix into one report; the worst outcome is the exit code.",
    ),
    "present": Entry(
        place="actions:present", summary="Show RUN in the job that runs this: summary, annotations, outputs."
    ),
}
SECTIONS: Final[dict[str, dict[str, Entry]]] = {
    "Prove a backport": {
        "run": Entry(
            place="run:run",
            summary="Run the pipeline of a kit on a release branch, or go on with a run, and print the drafted comment.",
        ),
        "demo": Entry(
            place="run:demo_command",
            summary="Run KIT (by default the first under patches/) on a device without hardware, target environment included.",
        ),
    },
    "Read a run, hand it on": {
        "show": Entry(
            place="show:show_command",
            summary="Show a run: verdict, arms, stages, claims, checks, and whether its evidence still holds; or list the runs in a folder.",
        ),
        "diff": Entry(
            place="show:diff_command",
            summary="Tell what changed from the first RUN to the second: code, environment, outcome.",
        ),
        "bundle": Entry(
            place="bundle:bundle_command",
            summary="Put the evidence of RUN into one archive, redacted, with hashes and an unsigned in-toto statement.",
        ),
        "publish": Entry(
            place="github:publish_command",
            summary="Create or update the one comment of RUN on the upstream pull request.",
        ),
        "audit": Entry(
            place="github:audit",
            summary="Compare what a pull request was asked for and claims with what its code contains.",
        ),
    },
    "Kits": {
        "new": Entry(place="new:new", summary="Write a kit; what a person must fill in is named."),
        "plan": Entry(place="plan:plan_group", summary="Look at a kit's plan, and at the rules of triage."),
    },
    "Failures": {
        "triage": Entry(
            place="triage:triage_command",
            summary="Name the first fault in logs, folders or archives, and its secondary errors.",
        ),
        "find": Entry(
            place="github:find_command",
            summary="Find the upstream's issues that look like the first fault of RUN, and say what they share.",
        ),
    },
    "Groups": {
        "history": Entry(summary="Ask a repository about a fix and its release branches.", commands=_HISTORY),
        "host": Entry(summary="Look at a device host, and load a served model on it.", commands=_HOST),
        "ci": Entry(summary="Work in GitHub Actions: what to run, and what came of it.", commands=_CI),
    },
}
"""The commands in the order of the help. Their sentences stand here so that `backproof --help` imports none of them."""
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def __init__(self, *, sections: Mapping[str, Mapping[str, Entry]], **attributes: Any) -> None:
        super().__init__(**attributes)
        self.sections = sections
        self.entries = {name: entry for section in sections.values() for name, entry in section.items()}
        # By these click finds the name that was meant; none of them is ever called.
        self.commands = {name: click.Command(name, short_help=item.summary) for name, item in self.entries.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(self.entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        entry = self.entries.get(cmd_name)
        if entry is None:
            return None
        if entry.commands:
            return LazyGroup(name=cmd_name, help=entry.summary, sections={"Commands": entry.commands})
        module, _, attribute = entry.place.partition(":")
        command: click.Command = getattr(importlib.import_module(f"backproof.commands.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its whole first sentence: cut short, it does not say what the command is for."""
        del ctx
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, entry.summary) for name, entry in section.items()])

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _refuse_closed_pipe():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _refuse_closed_pipe():
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


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="backproof")
def cli() -> None:
    """Prove a backport: what ran is what was picked, the fault happens without it and not with it.

    Exit codes: 0 pass, 1 the backport is bad, 2 usage or plan invalid, 3 a person is needed (conflict, drift),
    4 could not tell (host, device, network), 70 a bug in Backproof, 130 interrupted.
    """


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command; every exception becomes three sentences and a documented exit code."""
    signal.signal(signal.SIGTERM, _interrupt)
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
