"""What rounds under load leave in the run folder. Here, below the stages, because the verdict reads it too."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Arm, Evidence, Record
from backproof.records.proof import Case, DeviceInventory  # noqa: TC001 - pydantic reads them

StepOutcome = Literal["pass", "failed", "stalled", "corrupt", "differs"]
"""`differs`: outputs are not the same and nothing shows whether that is rounding or corruption."""


class Spread(Record):
    """Percentiles in milliseconds."""

    mean: float
    p50: float
    p90: float
    p99: float


class Load(Record):
    """The most that the service said of itself during a step; None where it did not say."""

    running: float | None = None
    waiting: float | None = None
    cache_percent: float | None = None
    source: Literal["metrics", "log", "none"] = "none"


class Output(Record):
    """What one fixed prompt got, decoded greedily."""

    text: str
    tokens: tuple[str, ...] = ()
    likely: tuple[dict[str, float | None], ...] = Field(default=(), description="the likeliest tokens per position")
    finish: str = ""


class Step(Record):
    """One concurrency on one service."""

    concurrency: int
    outcome: StepOutcome
    sentence: str
    requests: int
    ok: int
    failed: int
    unsent: int = Field(default=0, description="not sent any more after the first failure")
    seconds: float
    request_rate: float = 0
    token_rate: float = 0
    ttft: Spread | None = None
    tpot: Spread | None = None
    load: Load = Load()
    same: int = Field(default=0, description="outputs equal to those of one request at a time")
    ties: int = Field(default=0, description="outputs that part where two tokens were as likely: rounding")
    failures: tuple[str, ...] = ()
    bench: dict[str, float] | None = Field(default=None, description="what `vllm bench serve` measured")


class Scene(Record):
    """The first scene in the logs of a round that failed."""

    kind: str
    where: str
    verdict: str
    confidence: str
    code: str | None = None
    device: int | None = None


class Round(Record):
    """One start of the service on one arm, and the steps that it took."""

    schema_version: Literal[1] = 1
    serve: str
    arm: Arm
    number: int
    digest: str = Field(description="of all that the round depends on, host and boot among them")
    origin: Literal["started", "url"]
    command: str
    host: str
    boot_id: str
    complete: bool = Field(default=False, description="false while steps are missing: it is gone on with")
    steps: tuple[Step, ...] = ()
    reference: tuple[Output, ...] = Field(
        default=(), description="each prompt alone: what later outputs are held against"
    )
    observed: str = Field(default="", description="pass, fault:<kind>, or error")
    why: str = ""
    exit_code: int | None = None
    scene: Scene | None = None
    spoiled: str = Field(default="", description="why it says nothing: a card went bad")

    @property
    def failed_at(self) -> int | None:
        return next((each.concurrency for each in self.steps if each.outcome != "pass"), None)

    @property
    def reached(self) -> int:
        """The highest concurrency that passed."""
        return max((each.concurrency for each in self.steps if each.outcome == "pass"), default=0)


class ServeRecord(Record):
    """serve/serve.json."""

    schema_version: Literal[1] = 1
    device_facts: dict[str, str] = {}
    inventory: DeviceInventory | None = Field(default=None, description="None: no device, so this shows nothing of one")
    rounds: tuple[Round, ...] = ()
    cases: tuple[Case, ...] = ()
    not_run: tuple[str, ...] = Field(default=(), description="what the budget or the verdict left out, and why")
    evidence: tuple[Evidence, ...] = ()
