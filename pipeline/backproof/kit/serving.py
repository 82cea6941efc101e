"""The parts of the plan that need a device host: a served model under load, experiments, the target's own tests."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from backproof.core.model import Arm, Record
from backproof.kit.types import Expected, Identifier  # noqa: TC001 - pydantic reads them

Positive = Annotated[int, Field(gt=0)]
Seconds = Annotated[float, Field(gt=0)]
Concurrency = Annotated[tuple[Positive, ...], Field(min_length=1)]


class Serve(Record):
    """A service that is started from its arguments and loaded step by step, once per arm."""

    id: Identifier
    claim: str
    command: Annotated[tuple[str, ...], Field(min_length=1)] = Field(
        default=("{python}", "-m", "vllm.entrypoints.openai.api_server"),
        description="the program; {python} is the target's interpreter, {kit} the kit's folder, {model} what --model says",
    )
    arguments: tuple[str, ...] | None = Field(default=None, description="baseline.arguments where it is not given")
    env: dict[str, str] = {}
    model: str = Field(default="", description="as requests name it; by default the first that the service names")
    health: str = Field(default="/health", pattern=r"^/")
    ready: Seconds = Field(default=3600, description="seconds until it must be healthy: weights take their time")
    stall: Seconds = Field(default=300, description="seconds without a byte on a stream: it hangs")
    concurrency: Concurrency = (1, 2, 4, 8, 16)
    requests: Positive = Field(default=4, description="requests per step and client")
    max_tokens: Positive = 64
    prompts: tuple[str, ...] = Field(default=(), description="fixed prompts, decoded greedily; by default our own")
    fails_at: Positive | None = Field(default=None, description="the concurrency at which base fails: tried early")
    exact: bool = Field(default=False, description="the service computes the same for every batch size")
    bench: bool = Field(default=True, description="measure with `vllm bench serve` where the target has it")
    order: Literal["listed", "random", "abab"] = "listed"
    repeats: Positive = Field(default=1, description="rounds per arm; abab wants two or more")
    expect: Expected

    @model_validator(mode="after")
    def _check_steps(self) -> Serve:
        if list(self.concurrency) != sorted(set(self.concurrency)):
            raise ValueError("concurrency must rise: the first failure ends it")
        if self.fails_at is not None and self.fails_at not in self.concurrency:
            raise ValueError(f"fails_at {self.fails_at} is none of the steps {list(self.concurrency)}")
        if self.order == "abab" and self.repeats < 2:
            raise ValueError("order abab needs repeats of 2 or more")
        return self


class Side(Record):
    """One of the two configurations of an experiment: the service's own, changed in one place."""

    label: Identifier
    arguments: tuple[str, ...] | None = Field(default=None, description="all of them, instead of the service's")
    add: tuple[str, ...] = Field(default=(), description="arguments to add; one that is there gets the new value")
    remove: tuple[str, ...] = Field(default=(), description="names of arguments to leave out")
    env: dict[str, str] = {}
    concurrency: Concurrency | None = None
    arm: Arm | None = None


class Experiment(Record):
    """Two configurations that differ in ONE named variable."""

    id: Identifier
    question: str
    serve: Identifier
    variable: str = Field(description="an argument (--speculative-config), env.NAME, concurrency or arm")
    arm: Arm = Arm.BASE
    repeats: Positive = Field(default=4, description="per side; fewer than 4 cannot tell a switch from chance")
    side: tuple[Side, Side]

    @model_validator(mode="after")
    def _check_labels(self) -> Experiment:
        if self.side[0].label == self.side[1].label:
            raise ValueError(f"both sides are labelled {self.side[0].label!r}")
        return self


class UpstreamTests(Record):
    """Tests of the target's own repository, run in its interpreter on each arm."""

    select: Annotated[tuple[str, ...], Field(min_length=1)] = Field(description="paths or node ids in the repository")
    files: tuple[str, ...] = Field(default=("tests",), description="folders of the repository that the tests need")
    env: dict[str, str] = {}
    timeout: Seconds = Field(default=1800, description="for one file on one arm")
    repeats: Positive = Field(default=3, description="how often a test that failed runs in all")

    @model_validator(mode="after")
    def _check_paths(self) -> UpstreamTests:
        for path in (*self.select, *self.files):
            if path.startswith(("/", "-")) or ".." in path.partition("::")[0].split("/"):
                raise ValueError(f"{path!r} must be a path inside the repository")
        return self
