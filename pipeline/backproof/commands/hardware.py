"""inventory, serve-check, experiment, upstream-tests: what needs a device host, or a service that runs on one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.commands.output import print_json, run_options, say
from backproof.commands.printed import row
from backproof.commands.views import hardware as text
from backproof.core import time_budget
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.kit.serving import Experiment, Serve
    from backproof.records.proof import Run
    from backproof.stages import serve

_FOLDER = click.Path(path_type=Path, file_okay=False)
_RUN = click.option("--run", "folder", type=_FOLDER, required=True, help="The run folder; a new one needs --kit.")
_KIT = click.option("--kit", help="The kit, for a new run folder.")
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_MODEL = click.option("--model", default="", help="Folder or name of the weights, where the plan says {model}.")
_BUDGET = click.option("--budget", "span", help="Time to spend, for example 45m: what discriminates comes first.")


def _steps(_: click.Context, __: click.Parameter, given: str | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    try:
        found = tuple(int(each) for each in given.split(","))
    except ValueError:
        raise click.BadParameter("give rising numbers, for example 1,2,4,8,16") from None
    if list(found) != sorted(set(found)) or found[0] < 1:
        raise click.BadParameter("give rising numbers, for example 1,2,4,8,16")
    return found


@click.command()
@click.option("--python", default=sys.executable, help="The target's interpreter; ours when it is not given.")
@_JSON
def inventory(*, python: str, as_json: bool) -> None:
    """Say what this NPU host is: chips, health, driver, firmware, CANN, packages; and why something is unread."""
    from backproof.devices.ascend import inventory as inventories

    found = inventories.take(Path(python))
    if as_json:
        print_json(found)
        return
    for name, value in inventories.described(found).items():
        row(f"{name}: {value}")
    for chip in found.table.chips:
        row(f"  {chip.label}: {chip.name}, device {chip.device}, health {chip.health or 'not told'}")
    for name, package in found.software.packages.items():
        row(f"{name}: {package.version or 'none'} {(package.sha256 or '')[:12]}")
    for each in found.unread:
        row(f"unread: {each}")


@click.command("serve-check")
@_RUN
@_KIT
@run_options
@click.option("--serve", "only", help="The id of one [[serve]]; all of them by default.")
@click.option("--url", help="A service that runs already, instead of starting one. Its result counts for no level.")
@click.option(
    "--arm", "which", type=click.Choice(["base", "pick", "fixed"]), multiple=True, help="By default base and fixed."
)
@click.option("--steps", "concurrency", callback=_steps, help="Instead of the plan's: 1,2,4,8,16")
@click.option("--requests", type=click.IntRange(1), help="Per client and step, instead of the plan's.")
@click.option("--repeats", type=click.IntRange(1), help="Rounds per arm.")
@click.option("--order", type=click.Choice(["listed", "random", "abab"]), help="Of the rounds.")
@click.option("--seed", default=0, help="Of the random order.")
@_MODEL
@_BUDGET
def serve_check(
    *, folder: Path, only: str | None, url: str | None, which: tuple[str, ...], span: str | None, **rest: Any
) -> None:
    """Serve the plan's model under load, step by step and arm by arm; stop at the first failure and say what came first."""
    from backproof.app import execution
    from backproof.core.model import Arm
    from backproof.stages import serve

    as_json, given = rest.pop("as_json"), {name: rest.pop(name) for name in ("seed", "model")}
    names = ("concurrency", "requests", "repeats", "order")
    changes = {name: value for name in names if (value := rest.pop(name)) is not None}
    if "concurrency" in changes:
        changes["fails_at"] = None
    arms = tuple(Arm(each) for each in which) or (Arm.BASE, Arm.FIXED)
    options = serve.Options(only=only, which=arms, changes=changes, budget=time_budget.parse(span), **given)
    if url:
        execution.must_be_of_its_run(execution.Request(folder=folder, **rest))
        _address(folder, rest["kit"], url, options, as_json=as_json)
    done = execution.run_on_request(execution.Request(folder=folder, **rest), say, serve, options)
    _finish(done, serve.NAME, as_json=as_json)


def _address(folder: Path, kit: str | None, url: str, options: serve.Options, *, as_json: bool) -> NoReturn:
    from backproof.core.model import worst
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
    meant = [each for each in load_plan(Path(kit), DEVICES).serve if options.only in {None, each.id}]
    named: Serve = _named(meant, options.only, "[[serve]]")
    served = named.model_copy(update=dict(options.changes))
    found = check_address(Ledger(folder), serve.NAME, served, url, options.which[0], budget=options.budget, say=say)
    print_json(found) if as_json else text.print_rounds(found)
    sys.exit(worst(OUTCOMES[each.verdict] for each in found.cases).exit_code)


def _named(found: list[Any], name: str | None, what: str) -> Any:
    if len(found) != 1:
        raise PlanError(
            f"{what}: {name or 'which one'}?",
            why=f"the plan has {len(found)} that could be meant",
            next_step="name one of the plan's by its id",
        )
    return found[0]


@click.command()
@click.argument("name")
@_RUN
@_KIT
@run_options
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

    with execution.opened(execution.Request(folder=folder, **options), say) as ctx:
        chosen: Experiment = _named(
            [table for table in ctx.plan.experiment if table.id == name], name, "[[experiment]]"
        )
        served = next(table for table in ctx.plan.serve if table.id == chosen.serve)
        if dry_run:
            row(f"{name}: {conducting.prepare_sides(chosen, served, ctx.plan.baseline.arguments)[1]}")
            return
        asked = experiments.Options(experiment=chosen, serve=served, budget=time_budget.parse(span), model=model)
        runner.add_beside(replace(ctx, options=asked), experiments)
        record = next(kept for kept in ctx.need(ExperimentsRecord).experiments if kept.id == name)
    print_json(record) if as_json else text.print_experiment(record)
    sys.exit(record.outcome.exit_code)


@click.command("upstream-tests")
@_RUN
@_KIT
@run_options
def upstream_tests(*, folder: Path, as_json: bool, **options: Any) -> None:
    """Run the target's own tests that the plan selects, with the backport and without it."""
    from backproof.app import execution
    from backproof.stages import upstream_tests as own_tests

    done = execution.run_on_request(execution.Request(folder=folder, **options), say, own_tests)
    _finish(done, own_tests.NAME, as_json=as_json)


def _finish(done: Run, name: str, *, as_json: bool) -> None:
    result = next(each for each in done.stages if each.stage == name)
    if as_json:
        print_json(done)
        sys.exit(result.outcome.exit_code)
    row(f"{name}: {result.outcome}: {result.sentence}")
    for finding in result.findings:
        row(f"  {finding.severity}: {finding.text}")
    row(f"the run: {done.sentence}")
    sys.exit(result.outcome.exit_code)
