"""plan check, plan schema."""

from __future__ import annotations

from pathlib import Path

import click

from backproof.commands.output import print_json, print_line
from backproof.core.plural import format_count


@click.group("plan")
def plan_group() -> None:
    """Look at a kit's plan."""


@plan_group.command("check")
@click.argument("kit", type=click.Path(path_type=Path))
def plan_check(kit: Path) -> None:
    """Check plan.toml of KIT: every error at once."""
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan

    found = load_plan(kit, DEVICES)
    print_line(
        f"{kit}: plan {found.id} is valid: {format_count(len(found.check), 'check')}, {format_count(len(found.fixup), 'fix-up')}, {format_count(len(found.branch), 'branch')}"
    )


@plan_group.command("schema")
def plan_schema() -> None:
    """Print the JSON schema of plan.toml."""
    from backproof.kit.loader import make_schema

    print_json(make_schema())
