"""The user's own copy of the source of the device operators: it is compiled and run where it is, and nothing of it is kept."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.kit.plan import Plan

_FOLDERS = ("op_kernel", "op_host")


def describe_source(plan: Plan, folder: str) -> str:
    """Return what is said before the source is compiled: whose code runs, and under which licence.

    Raises:
        PlanError: the folder is no operator's, or the plan has no model that runs one.
    """
    source = plan.emulator.source if plan.emulator else None
    if source is None:
        raise PlanError(
            f"--operator-source {folder}: kit {plan.id} runs no operator's source",
            why="its plan has no [emulator.source]",
            next_step="leave the option out",
        )
    if missing := [name for name in _FOLDERS if not (Path(folder) / name).is_dir()]:
        raise PlanError(
            f"--operator-source {folder}: not the folder of an operator",
            why=f"it has no {' and no '.join(missing)}",
            next_step=f"name your own copy of {source.path} of {source.repository}",
        )
    return f"operator source: {folder} is compiled and run on this machine. Licence: {source.licence}"


def leave_source_out(plan: Plan) -> Plan:
    """Return the plan for a run that has no source of the operators at hand: models only."""
    if plan.emulator is None:
        return plan
    models = tuple(model for model in plan.emulator.model if not model.needs_source)
    return plan.model_copy(update={"emulator": plan.emulator.model_copy(update={"model": models})})


def list_limits(plan: Plan, folder: str) -> tuple[str, ...]:
    """Return what has to be said of a run whose plan could run the operators' source and that had none."""
    source = plan.emulator.source if plan.emulator else None
    if source is None or folder:
        return ()
    where = f"{source.path} of {source.repository}"
    return (f"Models only: the device operators' own source was not at hand (--operator-source: a copy of {where}).",)


def hash_source(folder: str) -> str:
    """Return one hash over the C++ files of the folder, with their names; empty where there is none."""
    if not folder:
        return ""
    whole = hashlib.sha256()
    for path in sorted(path for path in Path(folder).rglob("*") if path.suffix in {".h", ".cpp", ".hpp"}):
        whole.update(f"{path.relative_to(folder)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()
