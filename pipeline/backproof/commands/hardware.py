"""inventory, serve-check, experiment, upstream-tests: commands for a device host, or for a service that runs on one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.commands.doctor import doctor_command
from backproof.commands.logs import capture_group
from backproof.commands.options import CommandGroup, add_run_options, json_option
from backproof.commands.output import finish_stage, print_json, print_line, say
from backproof.commands.views import hardware as text
from backproof.core import time_budget
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.kit.serving import Experiment, Serve
    from backproof.stages import serve

_RUN = click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The run folder; a new one needs --kit.",
)
_KIT = click.option("--kit", help="The kit, for a new run folder.")
_MODEL = click.option("--model", default="", help="Folder or name of the weights, where the plan says {model}.")
_BUDGET = click.option("--budget", "span", help="Time to spend, for example 45m: what discriminates comes first.")


def _parse_steps(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    if value is None:
        return None
    words = value.split(",")
    steps = tuple(int(word) for word in words if word.strip().isdecimal())
    if len(steps) != len(words) or list(steps) != sorted(set(steps)) or steps[0] < 1:
        raise click.BadParameter("give rising numbers, for example 1,2,4,8,16")
    return steps


@click.group(cls=CommandGroup)
def host_group() -> None:
    """Look at a device host, and load a served model on it."""


host_group.add_command(doctor_command)


@host_group.command()
@click.option("--python", default=sys.executable, help="The target's interpreter; ours when it is not given.")
@json_option
def inventory(*, python: str, as_json: bool) -> None:
    """Say what this NPU host is: chips, health, driver, firmware, CANN, packages; and why something is unread."""
    from backproof.devices.ascend.inventory import describe_hardware, read_hardware

    hardware = read_hardware(Path(python))
    if as_json:
        print_json(hardware)
        return
    for name, value in describe_hardware(hardware).items():
        print_line(f"{name}: {value}")
    for chip in hardware.table.chips:
        print_line(f"  {chip.label}: {chip.name}, device {chip.device}, health {chip.health or 'not told'}")
    for name, package in hardware.software.packages.items():
        print_line(f"{name}: {package.version or 'none'} {(package.sha256 or '')[:12]}")
    for reason in hardware.unread:
        print_line(f"unread: {reason}")


host_group.add_command(capture_group)


@host_group.command("serve")
@_RUN
@_KIT
@add_run_options
@click.option("--serve", "only", help="The id of one [[serve]]; all of them by default.")
@click.option("--url", help="A service that runs already, instead of starting one. Its result counts for no level.")
@click.option(
    "--arm", "which", type=click.Choice(["base", "pick", "fixed"]), multiple=True, help="By default base and fixed."
)
@click.option("--steps", "concurrency", callback=_parse_steps, help="Instead of the plan's: 1,2,4,8,16")
@click.option("--requests", type=click.IntRange(1), help="Per client and step, instead of the plan's.")
@click.option("--repeats", type=click.IntRange(1), help="Rounds per arm.")
@click.option("--order", type=click.Choice(["listed", "random", "abab"]), help="Of the rounds.")
@click.option("--seed", default=0, help="Of the random order.")
@_MODEL
@_BUDGET
def serve_command(
    *, folder: Path, only: str | None, url: str | None, which: tuple[str, ...], span: str | None, **rest: Any
) -> None:
    """Serve the plan's model under load, step by step and arm by arm; stop at the first failure and say what came first."""
    from backproof.app import execution
    from backproof.core.model import Arm
    from backproof.stages import serve

    as_json, values = rest.pop("as_json"), {name: rest.pop(name) for name in ("seed", "model")}
    names = ("concurrency", "requests", "repeats", "order")
    changes = {name: value for name in names if (value := rest.pop(name)) is not None}
    if "concurrency" in changes:
        changes["fails_at"] = None
    arms = tuple(Arm(name) for name in which) or (Arm.BASE, Arm.FIXED)
    options = serve.ServeOptions(
        only=only, which=arms, changes=changes, budget=time_budget.parse_budget(span), **values
    )
    if url:
        execution.must_be_of_its_run(execution.Request(folder=folder, **rest))
        _check_address(folder, rest["kit"], url, options, as_json=as_json)
    done = execution.run_on_request(execution.Request(folder=folder, **rest), say, serve, options)
    finish_stage(done, serve.NAME, as_json=as_json)


def _check_address(folder: Path, kit: str | None, url: str, options: serve.ServeOptions, *, as_json: bool) -> NoReturn:
    from backproof.core.model import worst_outcome
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.rundir.ledger import Ledger
    from backproof.serving.address import check_address
    from backproof.stages import serve
    from backproof.verdict.judge import OUTCOMES

    if kit is None or len(options.which) != 1:
        raise PlanError(
            "--url needs --kit and one --arm",
            why="an address does not tell which plan is meant, nor which arm runs there",
            next_step="give --kit KIT --arm fixed (or base)",
        )
    tables = [table for table in load_plan(Path(kit), DEVICES).serve if options.only in {None, table.id}]
    named: Serve = _require_one(tables, options.only, "[[serve]]")
    served = named.model_copy(update=dict(options.changes))
    record = check_address(Ledger(folder), serve.NAME, served, url, options.which[0], budget=options.budget, say=say)
    print_json(record) if as_json else text.print_rounds(record)
    sys.exit(worst_outcome(OUTCOMES[case.verdict] for case in record.cases).exit_code)


def _require_one(tables: list[Any], name: str | None, what: str) -> Any:
    if len(tables) != 1:
        raise PlanError(
            f"{what}: {name or 'which one'}?",
            why=f"the plan has {len(tables)} that could be meant",
            next_step="name one of the plan's by its id",
        )
    return tables[0]


@host_group.command()
@click.argument("name")
@_RUN
@_KIT
@add_run_options
@_BUDGET
@_MODEL
@click.option("--dry-run", is_flag=True, help="Only say in what the two sides differ.")
def experiment(
    *, name: str, folder: Path, span: str | None, model: str, dry_run: bool, as_json: bool, **options: Any
) -> None:
    """Run the experiment NAME of the plan: two configurations that differ in one variable. Does it decide?"""
    from backproof.app import execution, runner
    from backproof.records.experiment import ExperimentsRecord
    from backproof.serving.experiments import conduct as conducting
    from backproof.stages import experiment as experiments

    with execution.open_run(execution.Request(folder=folder, **options), say) as ctx:
        chosen: Experiment = _require_one(
            [table for table in ctx.plan.experiment if table.id == name], name, "[[experiment]]"
        )
        served = next(table for table in ctx.plan.serve if table.id == chosen.serve)
        if dry_run:
            print_line(f"{name}: {conducting.prepare_sides(chosen, served, ctx.plan.baseline.arguments)[1]}")
            return
        stage_options = experiments.ExperimentOptions(
            experiment=chosen, serve=served, budget=time_budget.parse_budget(span), model=model
        )
        runner.add_beside(replace(ctx, options=stage_options), experiments)
        record = next(item for item in ctx.require_record(ExperimentsRecord).experiments if item.id == name)
    print_json(record) if as_json else text.print_experiment(record)
    sys.exit(record.outcome.exit_code)


@host_group.command("upstream-tests")
@_RUN
@_KIT
@add_run_options
def upstream_tests(*, folder: Path, as_json: bool, **options: Any) -> None:
    """Run the target's own tests that the plan selects, with the backport and without it."""
    from backproof.app import execution
    from backproof.stages import upstream_tests as own_tests

    done = execution.run_on_request(execution.Request(folder=folder, **options), say, own_tests)
    finish_stage(done, own_tests.NAME, as_json=as_json)
