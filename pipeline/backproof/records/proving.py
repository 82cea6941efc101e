"""What `backproof prove` finds out, as data: one record a backport."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.level import Level
from backproof.core.model import Evidence, Outcome, Record

ProofOutcome = Literal["proved", "not proved", "fail", "error"]
RedClass = Literal["behaviour", "symbol", "import"]
"""By what a test is red on base: what the code does, a name that is missing there, a module that cannot be imported."""

Affected = Literal["yes", "no", "not known"]

OUTCOMES: dict[ProofOutcome, Outcome] = {
    "proved": Outcome.PASS,
    "not proved": Outcome.INCONCLUSIVE,
    "fail": Outcome.FAIL,
    "error": Outcome.ERROR,
}


class RedTest(Record):
    """One test that is red on base and green with the fix, twice each."""

    test: str
    red: RedClass = Field(alias="class")
    line: str = Field(default="", description="what it ended with on base")
    touched: bool = Field(default=True, description="the fix changes or adds this very test")
    reached: tuple[str, ...] = Field(default=(), description="changed lines that it executes, as path:line")
    counts: bool = Field(default=True, description="it is a proof: red by behaviour, and it reaches the change")


class Cause(Record):
    """One cause of many: tests that are red on base by the same line."""

    red: RedClass = Field(alias="class")
    line: str
    tests: int
    touched: int = Field(description="how many of these tests the fix changes or adds")


class NotedTest(Record):
    """A test that shows nothing, and why."""

    test: str
    line: str


class ProvedArm(Record):
    """One arm as it ran: its tree, and which files of the change were loaded from it."""

    arm: Literal["base", "fixed"]
    tree: str
    loaded: dict[str, str] = Field(default={}, description="changed files that the tests loaded, with their SHA-256")
    seconds: float = 0


class ReachedLines(Record):
    """How many lines that the fix changes were executed by the tests that changed."""

    changed: int = 0
    reached: int = 0
    at_import: int = Field(default=0, description="changed lines that run when their module is loaded")


class ReleaseTests(Record):
    """What the release's own tests show of the change: no proof of the fix, but that nothing else broke."""

    files: tuple[str, ...] = Field(
        default=(), description="files of tests that name what the fix changes, and ran whole"
    )
    tests: int = Field(default=0, description="tests that are green on both arms, twice each")
    reach: tuple[str, ...] = Field(default=(), description="ids of those of them that execute changed lines")
    worse: tuple[RedTest, ...] = Field(default=(), description="green on base, red with the fix")
    lines: ReachedLines = ReachedLines()
    cut: bool = Field(default=False, description="time was up before all of them ran: the others count")
    strange: str = Field(default="", description="why they show nothing")


class ProofRecord(Record):
    """proof.json: the proof of one backport by its own tests."""

    schema_version: Literal[1] = 1
    what: str
    title: str = ""
    repo: str = ""
    branch: str = ""
    commits: tuple[str, ...] = ()
    landed: bool = False
    base: str = Field(default="", description="the commit that the fix was brought onto")
    environment: str = Field(default="", description="its key: equal keys are the same environment")
    recipe: str = Field(default="", description="where the recipe of the environment comes from")
    outcome: ProofOutcome
    red: RedClass | None = Field(default=None, alias="class", description="the best by which any test is red on base")
    affected: Affected = Field(
        default="not known",
        description="whether the release has the fault: a test of the fix is red on base by behaviour, or they are green there",
    )
    reason: str = Field(default="", description="why it is not proved, fails, or could not be told; empty for a proof")
    next_step: str = ""
    proofs: tuple[str, ...] = Field(
        default=(), description="ids of tests: red by behaviour, green with the fix, reached"
    )
    changed: tuple[RedTest, ...] = Field(default=(), description="every test that goes from red to green")
    causes: tuple[Cause, ...] = ()
    guards: tuple[str, ...] = Field(default=(), description="ids of tests that are green on both arms")
    worse: tuple[RedTest, ...] = Field(default=(), description="green on base, red with the fix")
    still_red: tuple[NotedTest, ...] = ()
    flaky: tuple[NotedTest, ...] = ()
    errors: tuple[NotedTest, ...] = ()
    skipped: tuple[str, ...] = ()
    files: tuple[str, ...] = Field(default=(), description="files of tests that ran whole")
    not_run: dict[str, str] = Field(default={}, description="files of tests that cannot run here, with the reason")
    code: tuple[str, ...] = Field(default=(), description="files of code that the fix changes")
    arms: tuple[ProvedArm, ...] = ()
    lines: ReachedLines = ReachedLines()
    unreached: tuple[str, ...] = Field(
        default=(), description="changed lines in functions that no test that ran executes, as path:line"
    )
    functions: tuple[str, ...] = Field(
        default=(), description="functions and classes that the fix changes, as path::name"
    )
    release_tests: ReleaseTests | None = Field(default=None, description="null: they were not asked")
    seconds: float = 0
    evidence: tuple[Evidence, ...] = ()

    @property
    def level(self) -> Level:
        """The level that the proof reaches, computed from what ran."""
        if self.outcome == "proved":
            return Level.EMULATED
        loaded = self.release_tests is not None and bool(self.release_tests.reach) and self.outcome == "not proved"
        return Level.LOADED if loaded else Level.PICKED
