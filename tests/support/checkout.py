"""Where the checkout is, since tests compute no path from their own place; and which commands it has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from backproof.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
KIT = ROOT / "patches" / "19353"


def all_commands() -> list[tuple[tuple[str, ...], click.Command]]:
    """Return every command that is not a group, by its words."""
    return list(_below(cli, ()))


def _below(group: click.Group, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _below(command, (*path, name))
        else:
            yield (*path, name), command
