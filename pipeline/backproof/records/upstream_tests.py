"""What the target's own tests leave in the run folder, as data: the loaded run shows it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Arm, Evidence, Record, StageRecord
from backproof.records.raised import Raised  # noqa: TC001 - pydantic reads it
from backproof.records.serving import LoggedFault  # noqa: TC001 - pydantic reads it

TestOutcome = Literal["passed", "failed", "error", "skipped", "crashed", "hung", "not-run"]


class OwnTest(Record):
    """One test on one arm, over all its runs."""

    test: str
    outcome: TestOutcome = Field(description="of its last run; a test that failed runs again")
    runs: int = 1
    bad: int = Field(default=0, description="runs that failed or took the process with them")
    message: str = ""
    seconds: float = 0
    first_fault: LoggedFault | None = None
    phase: str = Field(default="", description="the one that failed: setup, call or teardown")
    raised: tuple[Raised, ...] = Field(default=(), description="what it failed with, then what that came from")
    reached: dict[str, tuple[int, ...]] = Field(default={}, description="changed lines that it executed, by file")
    missing: tuple[str, ...] = Field(default=(), description="names that it met or mentions and this arm lacks")
    uncollected: bool = Field(default=False, description="did not run because its module could not be imported")

    @property
    def flaky(self) -> bool:
        return 0 < self.bad < self.runs

    @property
    def red(self) -> bool:
        """Bad in every run, by what the code under test did."""
        return self.runs > 0 and self.bad == self.runs and self.outcome != "error"

    @property
    def is_unknown(self) -> bool:
        """It did not run, or could not be carried out: neither red nor green."""
        return self.outcome in {"error", "not-run"}


class ArmTests(Record):
    """All tests of one arm."""

    arm: Arm
    tests: tuple[OwnTest, ...] = ()
    loaded: dict[str, str] = Field(default={}, description="files of the patch that were loaded, with their SHA-256")
    strange: str = Field(default="", description="why this shows nothing of the arm")
    evidence: tuple[Evidence, ...] = ()

    def count(self, outcome: TestOutcome) -> int:
        return sum(test.outcome == outcome for test in self.tests)


class Compared(Record):
    """One test over the arms."""

    test: str
    verdict: Literal["fine", "regression", "mended", "bad-everywhere", "flaky", "unknown"]
    sentence: str
    counts: bool = Field(default=True, description="false: a note, which the stage's outcome does not depend on")


class UpstreamRecord(StageRecord):
    """upstream-tests/upstream-tests.json."""

    schema_version: Literal[2] = 2
    device_facts: dict[str, str] = {}
    stand_in: bool = True
    arms: tuple[ArmTests, ...] = ()
    compared: tuple[Compared, ...] = ()
    spoiled: str = ""

    @property
    def changed(self) -> tuple[Compared, ...]:
        """The tests with anything to report."""
        return tuple(test for test in self.compared if test.verdict != "fine")

    @property
    def not_run(self) -> tuple[tuple[Arm, OwnTest], ...]:
        return tuple((arm.arm, test) for arm in self.arms for test in arm.tests if test.outcome == "not-run")
