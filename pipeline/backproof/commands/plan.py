"""plan check, plan schema, plan rules."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from backproof.commands.options import FOLDER, CommandGroup
from backproof.commands.output import print_json, print_line
from backproof.core.errors import ExitCode
from backproof.core.plural import format_count


@click.group("plan", cls=CommandGroup)
def plan_group() -> None:
    """Look at a kit's plan, and at the rules of triage."""


@plan_group.command("check")
@click.argument("kit", type=click.Path(path_type=Path))
def plan_check(kit: Path) -> None:
    """Check plan.toml of KIT and the files that it names: every error at once."""
    from backproof.devices import DEVICES
    from backproof.kit.loader import check_kit

    plan = check_kit(kit, DEVICES)
    parts = {"check": plan.check, "fix-up": plan.fixup, "branch": plan.branch}
    counts = ", ".join(format_count(len(items), noun) for noun, items in parts.items())
    print_line(f"{kit}: plan {plan.id} is valid: {counts}")


@plan_group.command("schema")
def plan_schema() -> None:
    """Print the JSON schema of plan.toml."""
    from backproof.kit.loader import make_schema

    print_json(make_schema())


@plan_group.command("rules")
@click.option("--folder", type=FOLDER, help="A folder of other rules.")
def plan_rules(*, folder: Path | None) -> None:
    """Check that each rule of triage matches its example and not its counterexample."""
    from backproof.triage import rules

    failures = rules.check_rules(folder)
    for failure in failures:
        print_line(f"{failure.rule}: {failure.problem}")
    if failures:
        sys.exit(ExitCode.USAGE)
    print_line("every rule holds its example and its counterexample")
