"""plan check, plan schema."""

from __future__ import annotations

from pathlib import Path

import click

from backproof.commands.output import print_json, print_line
from backproof.core.plural import counted


@click.group("plan")
def plan_group() -> None:
    """Look at a kit's plan."""


@plan_group.command("check")
@click.argument("kit", type=click.Path(path_type=Path))
def plan_check(kit: Path) -> None:
    """Check plan.toml of KIT: every error at once."""
    from backproof.kit import plan

    found = plan.load(kit)
    print_line(
        f"{kit}: plan {found.id} is valid: {counted(len(found.check), 'check')}, {counted(len(found.fixup), 'fix-up')}, {counted(len(found.branch), 'branch')}"
    )


@plan_group.command("schema")
def plan_schema() -> None:
    """Print the JSON schema of plan.toml."""
    from backproof.kit import plan

    print_json(plan.schema())
