"""The options and the kind of group that several commands share."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_LANG = "The language of what is printed; by default that of the terminal."


class _Folder(click.Path):
    """A folder that is there: click itself also takes a device or a pipe for one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if self.exists and not path.is_dir():
            self.fail(f"{path} is no folder.", param, ctx)
        return path


FOLDER = _Folder(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
signer_option = click.option(
    "--signer",
    metavar="OWNER/NAME",
    envvar="GITHUB_REPOSITORY",
    help="The repository whose workflow must have signed; by default the job's own.",
)
kit_option = click.option(
    "--kit",
    type=FOLDER,
    help="The kit; by default the one that the run names. For a run of another machine, name your own.",
)
language_option = click.option(
    "--lang", type=click.Choice(["en", "zh"]), default="en", show_default=True, help="The comment's language."
)


def choose_language() -> str:
    """Return the language of the terminal, where the comment has it."""
    named = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return "zh" if named.lower().startswith("zh") else "en"


def add_ending_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what a run prints at its end."""
    option = click.option("--lang", "language", type=click.Choice(["en", "zh"]), default=choose_language, help=_LANG)
    return click.option("--print", "comment", is_flag=True, help="Print the drafted comment.")(option(function))


def add_run_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say where a run works."""
    from backproof.devices import DEFAULT, DEVICES

    options = (
        click.option("--repo", help="The upstream repository: a path or a URL. It is only read."),
        click.option("--branch", help="The release branch; by default the plan's first."),
        click.option("--python", help="The target's interpreter."),
        click.option("--device", help=f"Where checks run: {', '.join(DEVICES)}.", show_default=DEFAULT),
        click.option("--operator-source", help="Your copy of the device operators' source, where the plan can run it."),
        click.option("--signoff/--no-signoff", default=None, help="Add a Signed-off-by line to each commit."),
        click.option(
            "--wait",
            type=click.FloatRange(min=0),
            default=0,
            metavar="SECONDS",
            help="How long to wait for a target or a device that another run has.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print run.json instead of text."),
    )
    for option in reversed(options):
        function = option(function)
    return function


class CommandGroup(click.Group):
    """A group whose help has the whole first sentence of each command: cut short, it does not say what the command is for."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(400)) for name, command in self.commands.items()])


def require_signer(signer: str | None) -> str:
    """Return the repository that must have signed, owner/name."""
    if not signer or not re.fullmatch(r"[\w.-]{1,100}/[\w.-]{1,100}", signer, re.ASCII):
        raise click.UsageError("Name the repository that must have signed: --signer OWNER/NAME.")
    return signer
