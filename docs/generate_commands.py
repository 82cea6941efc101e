"""Writes docs/commands/: a page per command, from what click knows of it. Run it after a change of a command."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import click
from backproof.cli import COMMANDS, CONTEXT, cli

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "commands"
MADE = "<!-- Made by docs/generate_commands.py: change the command, then run it. -->"


def pages() -> dict[str, str]:
    """Name and text of each page."""
    top = click.Context(cli, info_name="backproof", **CONTEXT)
    found = {name: click.Context(_command(top, name), parent=top, info_name=name) for name in COMMANDS}
    return {
        "README.md": _index(found),
        **{f"{name}.md": "\n".join([MADE, "", *_page(each, depth=1)]) for name, each in found.items()},
    }


def _command(context: click.Context, name: str) -> click.Command:
    assert isinstance(context.command, click.Group)
    command = context.command.get_command(context, name)
    assert command is not None
    return command


def _index(found: dict[str, click.Context]) -> str:
    rows = [f"| [`{name}`]({name}.md) | {_cell(_help(each)[0])} |" for name, each in found.items()]
    return "\n".join(
        [
            MADE,
            "",
            "# Commands",
            "",
            "Each option can also be set in the environment: `BACKPROOF_<COMMAND>_<OPTION>`, for example",
            "`BACKPROOF_RUN_BRANCH`. Exit codes are in the README.",
            "",
            "| command | what it does |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def _page(context: click.Context, *, depth: int) -> Iterator[str]:
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    yield from (f"{'#' * depth} {context.command_path}", "", "```", usage, "```", "")
    for paragraph in _help(context):
        yield from (paragraph, "")
    yield from _options(context)
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            inner = click.Context(_command(context, name), parent=context, info_name=name)
            yield from _page(inner, depth=depth + 1)


def _help(context: click.Context) -> list[str]:
    """Paragraphs; a sentence that was broken over lines is one line again."""
    text = inspect.cleandoc(context.command.help or "").replace("\b\n", "")
    return [" ".join(each.split()) for each in text.split("\n\n")]


def _options(context: click.Context) -> Iterator[str]:
    records = [record for each in context.command.params if (record := each.get_help_record(context))]
    if not records:
        return
    yield from ("| option | |", "| --- | --- |")
    yield from (f"| `{_cell(names)}` | {_cell(said)} |" for names, said in records)
    yield ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    for stale in set(FOLDER.glob("*.md")) - {FOLDER / name for name in wanted}:
        stale.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
