"""Reads a plan: all its errors at once, each with file and key, and a suggestion for an unknown name."""

from __future__ import annotations

import ast
import tomllib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from backproof.core.errors import PlanError
from backproof.core.plural import format_count
from backproof.core.suggestion import suggest_name
from backproof.kit.plan import PLAN_FILE, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from backproof.kit.plan import OffersModels


def load_plan(kit: Path, devices: Mapping[str, OffersModels]) -> Plan:
    """Read `plan.toml` of a kit folder (or the file itself).

    Args:
        kit: the folder or the file.
        devices: those that its expectations can be for, by name.

    Raises:
        PlanError: with every error, each with file, key and reason.
    """
    path = kit if kit.name.endswith(".toml") else kit / PLAN_FILE
    data = _read_toml(path)
    try:
        plan = Plan.model_validate(data, context=devices)
    except ValidationError as error:
        problems = error.errors()
        lines = [f"{path}: {_describe_problem(problem)}" for problem in problems if not _is_echo(problem, problems)]
        raise _refuse_plan(path, lines) from error
    if missing := [
        f"{path}: {key}: no file {name} in the kit"
        for key, name in _list_kit_files(plan)
        if not (path.parent / name).exists()
    ]:
        raise _refuse_plan(path, missing)
    return plan


def check_kit(kit: Path, devices: Mapping[str, OffersModels]) -> Plan:
    """Read the plan as `load_plan` does, and parse the Python files of the kit: a run would meet their mistakes late.

    Raises:
        PlanError: with every error, each with file and reason.
    """
    plan = load_plan(kit, devices)
    path = kit if kit.name.endswith(".toml") else kit / PLAN_FILE
    names = {name: key for key, name in _list_kit_files(plan) if name.endswith(".py")}
    if lines := [line for name, key in names.items() if (line := _explain_python(path.parent / name, key))]:
        raise _refuse_plan(path, lines)
    return plan


def _explain_python(file: Path, key: str) -> str:
    try:
        ast.parse(file.read_bytes(), filename=str(file))
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        return f"{file}{f':{line}' if line else ''}: {key}: no Python: {getattr(error, 'msg', error)}"
    return ""


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise PlanError(
            f"{path}: there is no plan",
            why="a kit is a folder with plan.toml",
            next_step="name a kit folder, for example patches/19353",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise PlanError(
            f"{path}: cannot be read as TOML", why=str(error), next_step="correct the file at that line"
        ) from error


def _is_echo(problem: Any, problems: Sequence[Any]) -> bool:
    """Tell whether another problem says it better: a list whose every item is wrong is "too short" as well."""
    place = problem["loc"]
    inner = any(other["loc"][: len(place)] == place and len(other["loc"]) > len(place) for other in problems)
    return bool(problem["type"] == "too_short" and inner)


def _refuse_plan(path: Path, lines: list[str]) -> PlanError:
    return PlanError(
        f"{path}: the plan is invalid ({format_count(len(lines), 'error')})",
        why="\n       ".join(lines),
        next_step=f"correct the plan; `backproof plan check {path.parent}` checks it again",
    )


def _list_kit_files(plan: Plan) -> list[tuple[str, str]]:
    files = [(f"check.{check.id}.file", check.file) for check in plan.check]
    files += [(f"fixup.{fixup.id}.file", fixup.file) for fixup in plan.fixup]
    if plan.emulator:
        files.append(("emulator.operators", plan.emulator.operators))
    return files


def _describe_problem(problem: Any) -> str:
    key = ".".join(str(part) for part in problem["loc"]) or "plan"
    if problem["type"] != "extra_forbidden":
        return f"{key}: {problem['msg'].removeprefix('Value error, ')}"
    known = _list_keys(problem["loc"][:-1])
    return f"{key}: unknown key{suggest_name(str(problem['loc'][-1]), known)}"


def _list_keys(location: tuple[Any, ...]) -> set[str]:
    """Return the keys that the plan allows at a place; lists, tuples and free tables are passed through."""
    model: type[BaseModel] = Plan
    for part in location:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        inner = _find_model(field.annotation) if field else None
        model = inner or model
    return {field.alias or name for name, field in model.model_fields.items()}


def _find_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for part in getattr(annotation, "__args__", ()) if (model := _find_model(part))), None)


def make_schema() -> dict[str, Any]:
    """Return the JSON schema of plan.toml (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Plan.model_json_schema(by_alias=True)}
