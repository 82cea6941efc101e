"""The command line: which command is where, and what each kind of ending becomes. Results are printed by the commands."""

from __future__ import annotations

import difflib
import importlib
import io
import signal
import sys
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from backproof import __version__
from backproof.core.errors import BackproofError, ExitCode, Interrupted, host_error
from backproof.core.plain_text import escape_text
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

CONTEXT: dict[str, Any] = {
    "auto_envvar_prefix": "BACKPROOF",
    "help_option_names": ["-h", "--help"],
    "max_content_width": 110,
}

SECTIONS: Final[dict[str, dict[str, str]]] = {
    "Prove a backport": {
        "run": "backproof.commands.run:run",
        "resume": "backproof.commands.run:resume",
        "demo": "backproof.commands.run:demo_command",
    },
    "One stage of a run": {
        "pick": "backproof.commands.stages:pick",
        "fixup": "backproof.commands.stages:fixup",
        "install": "backproof.commands.stages:install",
        "verify": "backproof.commands.stages:verify",
        "validate": "backproof.commands.stages:validate",
        "report": "backproof.commands.stages:report",
    },
    "Read a run, hand it on": {
        "show": "backproof.commands.show:show_command",
        "diff": "backproof.commands.show:diff_command",
        "runs": "backproof.commands.show:runs_command",
        "bundle": "backproof.commands.bundle:bundle_command",
        "verify-bundle": "backproof.commands.bundle:verify_bundle",
        "reproduce": "backproof.commands.history:reproduce_command",
    },
    "Kits": {
        "new": "backproof.commands.new:new",
        "plan": "backproof.commands.plan:plan_group",
    },
    "History of a repository": {
        "survey": "backproof.commands.history:survey_command",
        "explain": "backproof.commands.history:explain_command",
        "compare": "backproof.commands.history:compare_command",
        "cancelling": "backproof.commands.history:cancelling_command",
    },
    "Logs and hosts": {
        "triage": "backproof.commands.triage:triage_command",
        "rules": "backproof.commands.logs:rules_group",
        "doctor": "backproof.commands.doctor:doctor_command",
        "capture": "backproof.commands.logs:capture_group",
    },
    "NPU hosts": {
        "inventory": "backproof.commands.hardware:inventory",
        "serve-check": "backproof.commands.hardware:serve_check",
        "experiment": "backproof.commands.hardware:experiment",
        "upstream-tests": "backproof.commands.hardware:upstream_tests",
    },
    "GitHub": {
        "audit": "backproof.commands.github:audit",
        "publish": "backproof.commands.github:publish_command",
        "similar": "backproof.commands.github:similar_command",
        "matrix": "backproof.commands.actions:matrix_command",
        "merge": "backproof.commands.actions:merge_command",
        "present": "backproof.commands.actions:present",
    },
}
"""The commands as the help lists them: name, and where it is. Loaded when asked for: triage of a log must not wait for git."""
COMMANDS: Final = {name: where for section in SECTIONS.values() for name, where in section.items()}


class Lazy(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found: click.Command = getattr(importlib.import_module(module), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with its whole first sentence: cut short, it does not say what the command is for."""
        for title, section in SECTIONS.items():
            found = [(name, self.get_command(ctx, name)) for name in section]
            with formatter.section(title):
                formatter.write_dl([(name, each.get_short_help_str(limit=400)) for name, each in found if each])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            raise click.UsageError(f"{error.message} Did you mean {close[0]}?", ctx=error.ctx) from None


@click.group(cls=Lazy, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="backproof")
def cli() -> None:
    """Prove a backport: what ran is what was picked, the fault happens without it and not with it.

    Exit codes: 0 pass, 1 the backport is bad, 2 usage or plan invalid, 3 a person is needed (conflict, drift),
    4 could not tell (host, device, network), 70 a bug of ours, 130 interrupted.
    """


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
        usage = io.StringIO()
        error.show(usage)
        _print_error(usage.getvalue().rstrip())
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
        from backproof.app import crash  # noqa: PLC0415 - not on the way of a run that goes well

        path = crash.write(error, argv)
        why = f"{type(error).__name__}: {error}"
        _print_error(f"error: this is a bug in Backproof\n  why: {why}\n  next: attach {path} to an issue")
        return ExitCode.BUG
    return ExitCode.PASS


def _told(error: BackproofError) -> int:
    _print_error(f"error: {error}")
    return error.exit_code


def _print_error(text: str) -> None:
    """Print what an error says. Controls go first: one inside a secret would hide it from the mask."""
    click.echo(redact(escape_text(text)), err=True)


def _terminated(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
