"""env: the environments of targets that proofs made."""

from __future__ import annotations

import click

from backproof.commands.options import CommandGroup, json_option
from backproof.commands.output import print_json, print_line


@click.group(cls=CommandGroup)
def env_group() -> None:
    """List and remove the environments that `prove` keeps in the cache."""


@env_group.command("list")
@json_option
def list_command(*, as_json: bool) -> None:
    """List the environments: name, recipe, size, and when a proof last used each."""
    from backproof.recipes.kept import list_environments

    rows = list_environments()
    if as_json:
        print_json({"schema_version": 1, "environments": [row.model_dump(mode="json") for row in rows]})
        return
    for row in rows:
        print_line(f"{row.name}  {row.megabytes} MB  used {row.used}  {row.origin or 'never finished'}")
    if not rows:
        print_line("there is none")


@env_group.command()
@click.option("--days", default=30.0, show_default=True, help="Remove what no proof used for so many days.")
def prune(*, days: float) -> None:
    """Remove environments that no proof used for a while, and those that were never finished."""
    from backproof.recipes.kept import prune_environments

    removed = prune_environments(days=days)
    for name in removed:
        print_line(f"removed {name}")
    if not removed:
        print_line("there is nothing to remove")
