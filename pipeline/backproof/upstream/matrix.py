"""Which release branches on which devices: the include list that a workflow's matrix takes.

GitHub's own runners are what scales it: one shard per branch and device, joined by `merge`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from backproof.adapters.git import Source
from backproof.core.errors import PlanError
from backproof.core.model import Record
from backproof.devices import DEVICES, get_device

if TYPE_CHECKING:
    from backproof.kit.plan import Plan

_MOST_CELLS = 256
"""GitHub takes no more jobs in one matrix."""


class Cell(Record):
    """One shard. `name` is safe for an artifact and a concurrency group."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,120}$")]
    kit: str
    branch: str
    sha: str
    device: str
    labels: tuple[str, ...]


class Matrix(Record):
    """What `backproof ci matrix` prints and `merge` reads. Only `include` goes into a workflow's strategy."""

    schema_version: Literal[1] = 1
    include: tuple[Cell, ...]


def make_matrix(plan: Plan, repo: str, *, devices: tuple[str, ...] = (), labels: tuple[str, ...] = ()) -> Matrix:
    """Return the cells of a plan.

    Args:
        plan: the kit's.
        repo: where the branches are; it is only read.
        devices: only these; by default all that the plan has expectations for.
        labels: of the self-hosted runners that have the device.

    Raises:
        PlanError: a branch or a device is not there, or nothing is left to run.
    """
    source = Source.open(repo)
    named = devices or [name for name, device in DEVICES.items() if plan.has_checks_under(device.models(plan))]
    chosen = {name: get_device(name) for name in named}
    cells = tuple(
        Cell(
            name=re.sub(r"[^A-Za-z0-9._]+", "-", f"{branch.name}-{name}").strip("-.")[:120],
            kit=plan.id,
            branch=branch.name,
            sha=source.resolve_branch(branch.name),
            device=name,
            labels=device.TRAITS.hosted_runner or labels or ("self-hosted", name),
        )
        for branch in plan.branch
        for name, device in chosen.items()
    )
    if not cells or len(cells) > _MOST_CELLS or len({cell.name for cell in cells}) < len(cells):
        raise PlanError(
            f"{plan.id}: {len(cells)} cells make no matrix",
            why=f"a matrix has 1 to {_MOST_CELLS} jobs, each with a name of its own",
            next_step="name fewer devices with --device, or correct the plan's branches and expectations",
        )
    return Matrix(include=cells)
