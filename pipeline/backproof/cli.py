"""The command line: a table of the commands, and an exit code for each kind of ending. Commands print their results."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from backproof import __version__
from backproof.core.errors import BackproofError, ExitCode, HostError, Interrupted, explain_os_error
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONTEXT: dict[str, Any] = {
    "auto_envvar_prefix": "BACKPROOF",
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}

SECTIONS: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "Prove a backport": {
        "run": ("run:run", "Run the pipeline of KIT on a release branch and print the drafted comment."),
        "resume": ("run:resume", "Go on with RUN: what is done and unchanged is reused."),
        "demo": (
            "run:demo_command",
            "Run KIT (by default the first under patches/) on a device without hardware, target environment included.",
        ),
    },
    "One stage of a run": {
        "pick": ("stages:pick", "Cherry-pick the plan's commits in our own store."),
        "fixup": ("stages:fixup", "Land the kit's fix-ups on top of the pick."),
        "install": ("stages:install", "Put the fixed code into the target and leave it there until --undo."),
        "verify": ("stages:verify", "Prove that the installed, loaded and reached code is the picked code."),
        "validate": ("stages:validate", "Run the kit's checks on the arms base, pick and fixed."),
        "report": ("stages:report", "Write comment.md, report.html and junit.xml from what the run folder holds."),
    },
    "Read a run, hand it on": {
        "show": (
            "show:show_command",
            "Tell the story of RUN: verdict, arms, stages, claims, checks, and whether its evidence still holds.",
        ),
        "diff": (
            "show:diff_command",
            "Tell what changed from the first RUN to the second: code, environment, outcome.",
        ),
        "runs": ("show:runs_command", "List the runs in FOLDER (by default runs/), newest first."),
        "bundle": (
            "bundle:bundle_command",
            "Put the evidence of RUN into one archive, redacted, with hashes and an unsigned in-toto statement.",
        ),
        "verify-bundle": (
            "bundle:verify_bundle",
            "Check FILE, a bundle, offline: every byte, every hash, and that it says what its records carry.",
        ),
        "reproduce": (
            "history:reproduce_command",
            "Print a shell script of the steps that RUN took; running it gives the same trees.",
        ),
    },
    "Kits": {
        "new": ("new:new", "Write a kit; what a person must fill in is named."),
        "plan": ("plan:plan_group", "Look at a kit's plan."),
    },
    "History of a repository": {
        "survey": (
            "history:survey_command",
            "Tell for each release branch whether it has the fix, needs it, and takes it.",
        ),
        "explain": ("history:explain_command", "Say why COMMIT does not land on a branch, and how to go on."),
        "compare": (
            "history:compare_command",
            "Tell whether BACKPORT (a commit, or base..head) is the same as its originals.",
        ),
        "cancelling": ("history:cancelling_command", "Tell which commits of a pull request together change nothing."),
    },
    "Logs and hosts": {
        "triage": (
            "triage:triage_command",
            "Name the first scene of a failure from logs, folders or archives, not its echo.",
        ),
        "rules": ("logs:rules_group", "The rules of triage."),
        "doctor": (
            "doctor:doctor_command",
            "Compare this host with the plan's validated baseline; launch ARGUMENTS of the service come after `--`.",
        ),
        "capture": (
            "logs:capture_group",
            "Collect what a crash leaves: old logs are moved aside, never deleted; nothing is killed.",
        ),
    },
    "NPU hosts": {
        "inventory": (
            "hardware:inventory",
            "Say what this NPU host is: chips, health, driver, firmware, CANN, packages; and why something is unread.",
        ),
        "serve-check": (
            "hardware:serve_check",
            "Serve the plan's model under load, step by step and arm by arm; stop at the first failure and say what came first.",
        ),
        "experiment": (
            "hardware:experiment",
            "Run the experiment NAME of the plan: two configurations that differ in one variable.",
        ),
        "upstream-tests": (
            "hardware:upstream_tests",
            "Run the target's own tests that the plan selects, with the backport and without it.",
        ),
    },
    "GitHub": {
        "audit": ("github:audit", "Compare what a pull request was asked for and claims with what its code contains."),
        "publish": ("github:publish_command", "Create or update the one comment of RUN on the upstream pull request."),
        "similar": (
            "github:similar_command",
            "Find the upstream's issues that look like the first scene of RUN, and say what they share.",
        ),
        "matrix": (
            "actions:matrix_command",
            "Print the matrix of KIT for a workflow: release branches by devices, one line of JSON.",
        ),
        "merge": (
            "actions:merge_command",
            "Join the runs of a matrix into one report; the worst outcome is the exit code.",
        ),
        "present": ("actions:present", "Show RUN in the job that runs this: summary, annotations, outputs."),
    },
}
"""The commands in the order of the help: name, where it is in `commands`, and the first sentence of its own help.

The sentence stands here so that `backproof --help` imports none of them.
"""
COMMANDS: Final = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, not when they are listed."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # By these click finds the name that was meant; none of them is ever called.
        self.commands = {name: click.Command(name, short_help=summary) for name, (_, summary) in COMMANDS.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(importlib.import_module(f"backproof.commands.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its whole first sentence: cut short, it does not say what the command is for."""
        del ctx
        for title, section in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, summary) for name, (_, summary) in section.items()])

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
                "interrupted", why="a signal or the user stopped the run", next_step="`backproof resume RUN` goes on"
            )
        )
    except OSError as error:
        return _report(explain_os_error(error))
    except Exception as error:  # noqa: BLE001 - the one place where a bug of ours is caught
        from backproof.app import crash  # noqa: PLC0415 - not on the way of a run that goes well

        path = crash.write(error, argv)
        why = f"{type(error).__name__}: {error}"
        _write_error(f"error: this is a bug in Backproof\n  why: {why}\n  next: attach {path} to an issue")
        return ExitCode.BUG


def _report(error: BackproofError) -> int:
    _write_error(f"error: {error}")
    return error.exit_code


def _write_error(text: str) -> None:
    with _allow_closed_streams():
        click.echo(redact(text), err=True)


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
