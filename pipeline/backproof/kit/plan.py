"""The plan of a kit: `plan.toml` as frozen data. `kit/loader.py` reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Protocol

from pydantic import Field, ValidationInfo, model_validator

from backproof.core.model import Record
from backproof.core.suggestion import suggest_name
from backproof.kit.serving import Experiment, Serve, UpstreamTests
from backproof.kit.types import CommitName, Expected, Identifier, KitPath

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["Check", "Expected", "Experiment", "Plan", "Serve", "UpstreamTests"]

PLAN_FILE = "plan.toml"


class Upstream(Record):
    """The pull request of the fix, and the one that it was made from."""

    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$", description="owner/name")]
    pull: int | None = None
    original_pull: int | None = None


class NotWanted(Record):
    """A commit of the pull request that is left out, and why."""

    commit: CommitName
    why: str


class Pick(Record):
    """The commits to cherry-pick, in order."""

    commits: Annotated[tuple[CommitName, ...], Field(min_length=1)]
    drop: tuple[str, ...] = Field(default=(), description="gitignore-like globs taken out of the pick")
    not_wanted: tuple[NotWanted, ...] = ()
    mainline: int | None = Field(default=None, ge=1, description="parent number, for merge commits only")


class Fixup(Record):
    """A change that upstream lacks, landed as a commit of its own."""

    id: Identifier
    file: KitPath
    reason: str


class Runner(Record):
    """Where the matrix of a workflow runs one release branch on one device."""

    python: str = Field(default="", description="the interpreter there that has the release; '' for the workflow's")
    container: str = Field(default="", description="the image of the job; '' runs it on the host of the runner")
    labels: tuple[str, ...] = Field(default=(), description="of the runner, one or several; none for the workflow's")
    environment: str = Field(
        default="", description="a script to source first, or 'login' for what a login shell reads; '' for neither"
    )


class Branch(Record):
    """A release branch that wants the backport."""

    name: str
    runner: dict[Identifier, Runner] = Field(default={}, description="by device")


class Install(Record):
    """The way in which an arm reaches the target interpreter."""

    distribution: str
    mode: Literal["overlay", "pip"] = "overlay"
    root: str = Field(default="", description="folder of the repository that maps onto site-packages ('' or 'src')")
    env: dict[str, str] = Field(default={}, description="environment of the build in mode pip")


class Service(Record):
    """The start of the service, which decides which code the import system finds first."""

    launch: Literal["script", "module"] = "script"
    cwd: str = "."
    env: dict[str, str] = {}
    passes: tuple[str, ...] = Field(
        default=(),
        description="variables of the caller that it gets too; a trailing * stands for any end without a secret",
    )


class Verify(Record):
    """The modules that must be loaded, and the checks that must reach the changed lines."""

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
    needs_source: bool = Field(
        default=False, description="runs the operator's own source: tried where --operator-source names a copy of it"
    )


class OperatorSource(Record):
    """A place where the operator's own source may be had. Whoever runs the kit brings a copy; nothing of it is kept."""

    repository: str
    path: str = Field(description="the folder in it, with op_kernel and op_host")
    revision: str = Field(default="", description="the one that the expectations were seen with")
    licence: str = Field(description="its name, and what it allows; said before the source is compiled")


class Emulator(Record):
    """The kit's CPU references and the operator models to try."""

    operators: KitPath
    source: OperatorSource | None = None
    model: Annotated[tuple[OperatorModel, ...], Field(min_length=1)]


class Check(Record):
    """A test of the target, run once per arm and operator model."""

    id: Identifier
    file: KitPath
    select: str | None = None
    claim: str
    expect: Annotated[dict[str, Expected], Field(min_length=1)]
    timeout: Annotated[float, Field(gt=0, description="seconds for one arm under one model")] = 600
    repeat: Annotated[
        int, Field(ge=1, le=100, description="rounds of a proof on base and on fixed; without a device at least two")
    ] = 1

    def expected_under(self, models: Collection[str]) -> dict[str, Expected]:
        """Return what the arms must show under each of these operator models that the check has a table for."""
        return {name: expected for name, expected in self.expect.items() if name in models}


class Equivalent(Record):
    """A mutant of the fix that is no wrong version of it: no check can tell the two apart. It stays counted."""

    mutant: Annotated[str, Field(pattern=r"^[0-9a-f]{8}$", description="its id in mutate/mutate.json")]
    reason: Annotated[str, Field(min_length=1)]


class TriagePlan(Record):
    """The first fault that `base` must show in its logs."""

    kind: str
    engine: str = ""


class Baseline(Record):
    """Versions, environment and launch arguments that the release was validated with."""

    versions: dict[str, str] = {}
    environment: dict[str, str] = {}
    arguments: tuple[str, ...] = ()


class Target(Record):
    """The target environment that the demo builds."""

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
    equivalent: tuple[Equivalent, ...] = ()
    triage: TriagePlan | None = None
    baseline: Baseline = Baseline()
    target: Target | None = None
    serve: tuple[Serve, ...] = ()
    experiment: tuple[Experiment, ...] = ()
    upstream_tests: UpstreamTests | None = None

    def has_checks_under(self, models: Collection[str]) -> bool:
        """Tell whether any check says what the arms must show under these operator models."""
        return any(check.expected_under(models) for check in self.check)

    @model_validator(mode="after")
    def _names_hold(self, info: ValidationInfo) -> Plan:
        """Refuse names that stand for nothing; the validation's context is the devices, by name."""
        expected = [(check.id, name) for check in self.check for name in sorted(check.expect)]
        offered = {name for device in (info.context or {}).values() for name in device.models(self)}
        runners = [(branch.name, name) for branch in self.branch for name in sorted(branch.runner)]
        served = [(experiment.id, experiment.serve) for experiment in self.experiment]
        reach = [("", name) for name in self.verify.reach]
        problems = [
            *_find_repeated("check", self.check),
            *_find_repeated("fixup", self.fixup),
            *_find_repeated("serve", self.serve),
            *_find_repeated("experiment", self.experiment),
            *_find_unknown("verify.reach: no check", reach, {check.id for check in self.check}),
            *_find_unknown("check {}: no operator model or device", expected, offered),
            *_find_unknown("branch {}: no device", runners, set(info.context or {})),
            *_find_unknown("experiment {}: no serve", served, {serve.id for serve in self.serve}),
        ]
        if problems:
            raise ValueError("; ".join(problems))
        return self


class LetsPass(Protocol):
    """Traits of a device, as far as the start of a service needs to know them."""

    @property
    def passes(self) -> tuple[str, ...]:
        """Variables of the caller that a process there gets."""
        ...


class OffersModels(Protocol):
    """A device, as far as a plan needs to know it."""

    @property
    def TRAITS(self) -> LetsPass:  # noqa: N802 - a module's constant
        """How processes run there."""
        ...

    def models(self, plan: Plan) -> Collection[str]:
        """Return the operator models that checks of this plan can run under there."""
        ...


def _find_unknown(what: str, names: Iterable[tuple[str, str]], known: set[str]) -> list[str]:
    """Return a problem for each name of an owner that stands for nothing."""
    return [f"{what.format(owner)} {name!r}{suggest_name(name, known)}" for owner, name in names if name not in known]


def _find_repeated(what: str, items: Sequence[Check | Fixup | Serve | Experiment]) -> list[str]:
    names = [item.id for item in items]
    return [f"{what} {name!r} is defined twice" for name in sorted(set(names)) if names.count(name) > 1]
