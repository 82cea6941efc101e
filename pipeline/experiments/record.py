"""What an experiment leaves in the run folder."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.model import Arm, Evidence, Outcome, Record


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
    not_counted: int = Field(default=0, description="rounds that say nothing: errors, another fault")
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
