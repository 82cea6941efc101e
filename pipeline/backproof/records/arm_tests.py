"""What one test showed on one arm, over all of its runs: a proof is made of two of these, with the same id."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Record

Ending = Literal["passed", "failed", "fault", "error", "skipped", "xfailed", "flaky"]
"""How a test ended. `failed` is an assertion or what the code under test raised, `fault` what the device refused, `error`
a test that could not be carried out. `flaky` is more than one of these; a test that an arm does not have is missing there."""


class ArmTest(Record):
    """One test on one arm."""

    test: str
    ending: Ending
    runs: int = 1
    red: int = Field(default=0, description="runs that failed by their claim or by a fault")
    kind: str = Field(default="", description="of the first fault; empty where there was none")
    line: str = Field(default="", description="what it ended with, in one line; empty for a pass")

    @property
    def is_red(self) -> bool:
        """Red in every run: it failed by its claim, or by a fault."""
        return self.ending in {"failed", "fault"}
