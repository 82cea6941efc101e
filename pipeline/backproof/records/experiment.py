"""What experiments leave in the run folder, as data: the loaded run shows it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Arm, Evidence, Outcome, Record, StageRecord


class Run(Record):
    """One round of one side."""

    side: str
    number: int
    observed: str
    failed_at: int | None
    why: str = ""


class SideResult(Record):
    """The numbers of one side."""

    label: str
    arm: Arm
    failed: int
    ran: int
    not_counted: int = Field(default=0, description="rounds that show nothing: errors, another fault")
    by_load: dict[str, tuple[int, int]] = Field(default={}, description="per concurrency: failed, ran")


class ExperimentRecord(Record):
    """experiment/<id>/experiment.json."""

    schema_version: Literal[1] = 1
    id: str
    question: str
    variable: str
    difference: str
    kind: Literal["switch", "gradual", "no-effect", "undecided"]
    p: float
    sentence: str
    outcome: Outcome
    sides: tuple[SideResult, ...]
    runs: tuple[Run, ...]
    host: str
    boot_id: str
    stand_in: bool = Field(description="no device was there: this shows nothing of one")
    stopped: str = Field(default="", description="why not all repeats ran")
    evidence: tuple[Evidence, ...] = ()

    @property
    def rules_out(self) -> tuple[str, ...]:
        """Hypotheses that the rounds leave no room for. "Not reproduced" and "undecided" rule nothing out."""
        ruled_out = []
        if self.kind in {"switch", "gradual"}:
            ruled_out.append(f"{self.variable} makes no difference")
        if self.kind in {"gradual", "no-effect"} and all(side.failed for side in self.sides):
            ruled_out.append(f"the fault comes with one value of {self.variable} only")
        return tuple(ruled_out)


class ExperimentsRecord(StageRecord):
    """experiment/experiment.json: every experiment of the run, each as it ended last."""

    schema_version: Literal[1] = 1
    experiments: tuple[ExperimentRecord, ...] = ()
