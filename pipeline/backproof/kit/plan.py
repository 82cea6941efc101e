"""The plan of a kit: `plan.toml` to frozen data, with every error at once and a did-you-mean for each unknown key."""

from __future__ import annotations

import difflib
import tomllib
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from backproof.core.errors import PlanError
from backproof.core.model import Record
from backproof.kit.serving import Experiment, Serve, UpstreamTests
from backproof.kit.types import CommitName, Expected, Identifier, KitPath

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["Check", "Expected", "Experiment", "Plan", "Serve", "UpstreamTests", "load", "schema"]

PLAN_FILE = "plan.toml"


class Upstream(Record):
    """Where the fix comes from."""

    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$", description="owner/name")]
    pull: int | None = None
    original_pull: int | None = None


class NotWanted(Record):
    """A commit of the pull request that is left out, and why."""

    commit: CommitName
    why: str


class Pick(Record):
    """What to cherry-pick, in order."""

    commits: Annotated[tuple[CommitName, ...], Field(min_length=1)]
    drop: tuple[str, ...] = Field(default=(), description="gitignore-like globs taken out of the pick")
    not_wanted: tuple[NotWanted, ...] = ()
    mainline: int | None = Field(default=None, ge=1, description="parent number, for merge commits only")


class Fixup(Record):
    """A change that upstream lacks, landed as a commit of its own."""

    id: Identifier
    file: KitPath
    reason: str


class Branch(Record):
    """A release branch that wants the backport."""

    name: str


class Install(Record):
    """How an arm reaches the target interpreter."""

    distribution: str
    mode: Literal["overlay", "pip"] = "overlay"
    root: str = Field(default="", description="folder of the repository that maps onto site-packages ('' or 'src')")
    env: dict[str, str] = Field(default={}, description="environment of the build in mode pip")


class Service(Record):
    """How the service is started: this decides what the import system finds first."""

    launch: Literal["script", "module"] = "script"
    cwd: str = "."
    env: dict[str, str] = {}


class Verify(Record):
    """What must be loaded, and which checks must reach the changed lines."""

    modules: tuple[str, ...] = Field(default=(), description="beyond the modules of the patch")
    reach: tuple[Identifier, ...] = Field(default=(), description="ids of the checks that must reach the changed lines")
    reach_select: str | None = Field(
        default=None, description="a pytest -k expression that narrows these checks: tracing lines is slow"
    )
    service: Service = Service()


class OperatorModel(Record):
    """One named behaviour of the device operators that the kit's references can take."""

    id: Identifier
    model: str
    options: dict[str, str] = {}
    meaning: str


class Emulator(Record):
    """The kit's CPU references and the operator models to try."""

    operators: KitPath
    model: Annotated[tuple[OperatorModel, ...], Field(min_length=1)]


class Check(Record):
    """A test of the target, run once per arm and operator model."""

    id: Identifier
    file: KitPath
    select: str | None = None
    claim: str
    expect: Annotated[dict[str, Expected], Field(min_length=1)]
    timeout: Annotated[float, Field(gt=0, description="seconds for one arm under one model")] = 600


class TriagePlan(Record):
    """The first scene that `base` must show in its logs."""

    kind: str
    engine: str = ""


class Baseline(Record):
    """What the release was validated with."""

    versions: dict[str, str] = {}
    environment: dict[str, str] = {}
    arguments: tuple[str, ...] = ()


class Target(Record):
    """The target environment that the demo builds for the embedded device."""

    requirement: str = Field(description="the affected release, exactly pinned")
    packages: tuple[str, ...] = Field(description="installed first, exactly pinned")
    env: dict[str, str] = {}
    series: KitPath = "series"


class Plan(Record):
    """plan.toml."""

    schema_: Literal[1] = Field(alias="schema")
    id: Identifier
    title: str
    upstream: Upstream
    pick: Pick
    fixup: tuple[Fixup, ...] = ()
    branch: Annotated[tuple[Branch, ...], Field(min_length=1)]
    install: Install
    verify: Verify = Verify()
    emulator: Emulator | None = None
    check: Annotated[tuple[Check, ...], Field(min_length=1)]
    triage: TriagePlan | None = None
    baseline: Baseline = Baseline()
    target: Target | None = None
    serve: tuple[Serve, ...] = ()
    experiment: tuple[Experiment, ...] = ()
    upstream_tests: UpstreamTests | None = None

    @model_validator(mode="after")
    def _names_hold(self) -> Plan:
        problems = [*_repeated("check", [each.id for each in self.check])]
        problems += _repeated("fixup", [each.id for each in self.fixup])
        known = {each.id for each in self.check}
        problems += [
            f"verify.reach: no check {name!r}{_did_you_mean(name, known)}"
            for name in self.verify.reach
            if name not in known
        ]
        models = {each.id for each in self.emulator.model} if self.emulator else set()
        for check in self.check:
            unknown = set(check.expect) - models - {"ascend", "cpu"}
            problems += [
                f"check {check.id}: no operator model {name!r}{_did_you_mean(name, models)}" for name in sorted(unknown)
            ]
        problems += _serving_problems(self)
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _serving_problems(plan: Plan) -> list[str]:
    served = {each.id for each in plan.serve}
    return [
        *_repeated("serve", [each.id for each in plan.serve]),
        *_repeated("experiment", [each.id for each in plan.experiment]),
        *(
            f"experiment {each.id}: no serve {each.serve!r}{_did_you_mean(each.serve, served)}"
            for each in plan.experiment
            if each.serve not in served
        ),
    ]


def _repeated(what: str, names: list[str]) -> list[str]:
    return [f"{what} {name!r} is defined twice" for name in sorted({n for n in names if names.count(n) > 1})]


def _did_you_mean(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def schema() -> dict[str, Any]:
    """The JSON schema of plan.toml (draft 2020-12)."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Plan.model_json_schema(by_alias=True)}


def load(kit: Path) -> Plan:
    """Read `plan.toml` of a kit folder (or the file itself).

    Raises:
        PlanError: with every error, each with file, key and reason.
    """
    path = kit if kit.name.endswith(".toml") else kit / PLAN_FILE
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
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
    try:
        plan = Plan.model_validate(data)
    except ValidationError as error:
        found = error.errors()
        lines = [f"{path}: {_sentence(each)}" for each in found if not _echoes(each, found)]
        raise _invalid(path, lines) from error
    if missing := [
        f"{path}: {key}: no file {name} in the kit"
        for key, name in _kit_files(plan)
        if not (path.parent / name).exists()
    ]:
        raise _invalid(path, missing)
    return plan


def _echoes(error: Any, errors: Sequence[Any]) -> bool:
    """A list whose every item is wrong is "too short" as well: that is said by its items."""
    place = error["loc"]
    inner = any(each["loc"][: len(place)] == place and len(each["loc"]) > len(place) for each in errors)
    return bool(error["type"] == "too_short" and inner)


def _invalid(path: Path, lines: list[str]) -> PlanError:
    count = f"{len(lines)} error{'s' if len(lines) > 1 else ''}"
    return PlanError(
        f"{path}: the plan is invalid ({count})",
        why="\n       ".join(lines),
        next_step=f"correct the plan; `backproof plan check {path.parent}` checks it again",
    )


def _kit_files(plan: Plan) -> list[tuple[str, str]]:
    files = [(f"check.{each.id}.file", each.file) for each in plan.check]
    files += [(f"fixup.{each.id}.file", each.file) for each in plan.fixup]
    if plan.emulator:
        files.append(("emulator.operators", plan.emulator.operators))
    return files


def _sentence(error: Any) -> str:
    key = ".".join(str(part) for part in error["loc"]) or "plan"
    if error["type"] != "extra_forbidden":
        return f"{key}: {error['msg'].removeprefix('Value error, ')}"
    known = _keys_at(error["loc"][:-1])
    return f"{key}: unknown key{_did_you_mean(str(error['loc'][-1]), known)}"


def _keys_at(location: tuple[Any, ...]) -> set[str]:
    """The keys that the plan allows at a place; lists, tuples and free tables are passed through."""
    model: type[BaseModel] = Plan
    for part in location:
        field = model.model_fields.get(part) if isinstance(part, str) else None
        inner = _model_in(field.annotation) if field else None
        model = inner or model
    return {field.alias or name for name, field in model.model_fields.items()}


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for each in getattr(annotation, "__args__", ()) if (found := _model_in(each))), None)
