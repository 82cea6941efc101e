"""What rounds under load leave in the run folder, as data: the verdict reads it, too."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Arm, Evidence, Record, StageRecord
from backproof.records.proof import Case, DeviceInventory  # noqa: TC001 - pydantic reads them

StepOutcome = Literal["pass", "failed", "stalled", "corrupt", "differs"]
"""`differs`: the outputs are not the same, and nothing shows whether that is rounding or corruption."""


class Spread(Record):
    """Percentiles in milliseconds."""

    mean: float
    p50: float
    p90: float
    p99: float


class Load(Record):
    """The highest values that the service reported during a step; None is what it did not report."""

    running: float | None = None
    waiting: float | None = None
    cache_percent: float | None = None
    source: Literal["metrics", "log", "none"] = "none"


class Output(Record):
    """The answer to one fixed prompt, decoded greedily."""

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


class LoggedFault(Record):
    """The first fault in the logs of a process that failed, as triage named it."""

    kind: str
    where: str
    verdict: str
    confidence: str
    code: str | None = None
    device: int | None = None


class Round(Record):
    """One start of the service on one arm, and the steps that it took."""

    schema_version: Literal[2] = 2
    serve: str
    arm: Arm
    number: int
    digest: str = Field(description="of all that the round depends on, host and boot among them")
    origin: Literal["started", "url"]
    command: str
    host: str
    boot_id: str
    complete: bool = Field(default=False, description="false while steps are missing: the next run continues it")
    steps: tuple[Step, ...] = ()
    reference: tuple[Output, ...] = Field(
        default=(), description="each prompt alone: the outputs that later ones are compared with"
    )
    observed: str = Field(default="", description="pass, fault:<kind>, or error")
    why: str = ""
    exit_code: int | None = None
    first_fault: LoggedFault | None = None
    spoiled: str = Field(default="", description="why it shows nothing: a card went bad")

    @property
    def failed_at(self) -> int | None:
        return next((step.concurrency for step in self.steps if step.outcome != "pass"), None)

    @property
    def reached(self) -> int:
        """The highest concurrency that passed."""
        return max((step.concurrency for step in self.steps if step.outcome == "pass"), default=0)


class ServeRecord(StageRecord):
    """serve/serve.json."""

    schema_version: Literal[2] = 2
    device_facts: dict[str, str] = {}
    inventory: DeviceInventory | None = Field(default=None, description="None: no device, so this shows nothing of one")
    rounds: tuple[Round, ...] = ()
    cases: tuple[Case, ...] = ()
    not_run: tuple[str, ...] = Field(default=(), description="rounds that were left out, and why")
    evidence: tuple[Evidence, ...] = ()
