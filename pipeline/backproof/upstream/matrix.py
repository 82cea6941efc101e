"""Which release branches on which devices: the include list that a workflow's matrix takes.

GitHub's own runners are what scales it: one shard per branch and device, joined by `merge`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from backproof.adapters.git import Source
from backproof.core.errors import PlanError
from backproof.core.model import Record
from backproof.core.suggestion import suggest_name
from backproof.devices import DEVICES, get_device
from backproof.kit.plan import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.devices.protocol import Device
    from backproof.kit.plan import Branch, Plan

_MOST_CELLS = 256
"""GitHub takes no more jobs in one matrix."""


class Cell(Runner):
    """One shard, and where it runs. `name` is safe for an artifact and a concurrency group."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,120}$")]
    kit: str
    branch: str
    sha: str
    device: str


class Matrix(Record):
    """What `backproof ci matrix` prints and `merge` reads. Only `include` goes into a workflow's strategy."""

    schema_version: Literal[1] = 1
    include: tuple[Cell, ...]


def make_matrix(
    plan: Plan, repo: str, *, branches: Sequence[str] = (), devices: Sequence[str] = (), default: Runner | None = None
) -> Matrix:
    """Return the cells of a plan.

    Args:
        plan: the kit's.
        repo: where the branches are; it is only read.
        branches: only these; by default all of the plan.
        devices: only these; by default all that the plan has expectations for.
        default: the runner of a device that GitHub has none for, as far as the plan does not say.

    Raises:
        PlanError: a branch or a device is not there, or nothing is left to run.
    """
    source = Source.open(repo)
    named = devices or [name for name, device in DEVICES.items() if plan.has_checks_under(device.models(plan))]
    chosen = [get_device(name) for name in named]
    cells = tuple(
        _make_cell(plan, source, branch, device, default or Runner())
        for branch in _choose_branches(plan, branches)
        for device in chosen
    )
    if not cells or len(cells) > _MOST_CELLS or len({cell.name for cell in cells}) < len(cells):
        raise PlanError(
            f"{plan.id}: {len(cells)} cells make no matrix",
            why=f"a matrix has 1 to {_MOST_CELLS} jobs, each with a name of its own",
            next_step="name fewer devices with --device, or correct the plan's branches and expectations",
        )
    return Matrix(include=cells)


def _choose_branches(plan: Plan, named: Sequence[str]) -> list[Branch]:
    names = [branch.name for branch in plan.branch]
    if unknown := next((name for name in named if name not in names), None):
        raise PlanError(
            f"{unknown}: no branch of {plan.id}",
            why=f"the plan has {', '.join(names)}{suggest_name(unknown, names)}",
            next_step="choose one of them with --branch, or add a [[branch]] to plan.toml",
        )
    return [branch for branch in plan.branch if not named or branch.name in named]


def _make_cell(plan: Plan, source: Source, branch: Branch, device: Device, default: Runner) -> Cell:
    hosted = Runner(labels=device.TRAITS.hosted_runner)
    fallback = (
        hosted if hosted.labels else Runner(labels=("self-hosted", device.NAME)).model_copy(update=_list_set(default))
    )
    runner = {**dict(fallback), **_list_set(branch.runner.get(device.NAME, Runner()))}
    name = re.sub(r"[^A-Za-z0-9._]+", "-", f"{branch.name}-{device.NAME}").strip("-.")[:120]
    sha = source.resolve_branch(branch.name)
    return Cell(name=name, kit=plan.id, branch=branch.name, sha=sha, device=device.NAME, **runner)


def _list_set(runner: Runner) -> dict[str, Any]:
    """Return what is set in a runner."""
    return {name: value for name, value in runner if value}
