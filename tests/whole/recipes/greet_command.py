"""greet: one line."""

from __future__ import annotations

import click


@click.command("greet")
@click.argument("name")
def greet_command(*, name: str) -> None:
    """Greet NAME."""
    click.echo(f"hello {name}")
