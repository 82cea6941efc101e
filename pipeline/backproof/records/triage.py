"""The result of a triage as `--json` prints it. Documented in docs/triage.md; a change of meaning changes the version."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from pydantic import Field

from backproof.core.model import Record, StageRecord
from backproof.records.codes import Code  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA_VERSION: Final = 2
Outcome = Literal["first-fault", "errors", "only-secondary", "healthy", "unread"]
"""The result in a word: the first fault · errors that are not one: no rule knows them, or they were survived · only what repeats a failure ·
logs that were read to their end and hold no error · logs that were not, or no log at all."""


class FirstFault(Record):
    """The record at which the failure started."""

    file: str = Field(description="relative to the folder that was given")
    line: int = Field(description="from 1")
    kind: str
    rule: str = Field(description="id of the rule, empty when no rule knows the line")
    text: str
    time: str | None = Field(description="YYYY-MM-DD HH:MM:SS.uuuuuu, the wall clock of the log")
    began: str | None = Field(None, description="for a wait that ran out: when it began")


class LoggedError(Record):
    """One line that reports an error."""

    file: str
    line: int = Field(description="from 1; 0 where the lines were not counted")
    text: str
    time: str | None = Field(default=None, description="as of the first fault")


class Pointer(Record):
    """A status word that points at the task which failed."""

    where: str
    status: str
    result: str
    queue: int
    task: int
    joined: str | None = Field(description="file:line of the report about that task")


class RankCount(Record):
    """Errors of one process."""

    host: str
    process: str
    rank: int | None
    device: int | None
    errors: int
    first: str | None
    role: Literal["first-fault", "secondary", "noise", "unknown"] = Field(
        description="the worst that this process wrote"
    )


class Shape(Record):
    """One line of the distribution: errors that differ in digits only."""

    count: int
    text: str


class Point(Record):
    """A record on the timeline."""

    us: int = Field(description="microseconds since 1970 of the wall clock, for drawing")
    lane: str = Field(description="rank or process")
    role: str
    where: str


class Sample(Record):
    """One line of the server's statistics; `us` as in Point, percentages 0 to 100."""

    us: int | None
    prompt: float
    generation: float
    running: int
    waiting: int
    cache: float | None


class Hypothesis(Record):
    """A suspicion, and what the metrics say about it."""

    hypothesis: str
    evidence: str
    verdict: Literal["ruled out", "possible", "confirmed", "unknown"]


class Server(Record):
    """The facts of the server's own log."""

    samples: tuple[Sample, ...]
    healthy_at: str | None
    pace: Literal["running", "slow", "stuck", "unknown"]
    pace_why: str
    stack: tuple[str, ...] = Field(description="frames of the first traceback, innermost last")
    ranks: tuple[int, ...] = Field(description="ranks that raised")
    spread: Literal["single rank", "several ranks", "all ranks", "unknown"]
    hypotheses: tuple[Hypothesis, ...]


class Clue(Record):
    """A text that tells this failure from others."""

    what: Literal["kind", "code", "kernel", "frame", "raised", "line", "word"] = Field(
        description="word: a person gave it"
    )
    text: str


class TriageResult(StageRecord):
    """The first fault, the secondary errors, and what to do next."""

    schema_version: Literal[2] = SCHEMA_VERSION
    outcome: Outcome
    first_fault: FirstFault | None
    verdict: str
    confidence: Literal["high", "medium", "low", "none"]
    why: tuple[str, ...]
    advice: str
    code: str | None = Field(description="what the user saw: ACL or alarm code of the first secondary error")
    chain: tuple[Code, ...] = Field(description="TS, inner, ACL")
    codes: tuple[Code, ...] = Field(description="all codes of the fault, decoded")
    device: int | None
    rank: int | None
    kernel: str | None
    peer: str | None = Field(default=None, description="the rank that errors wait for or blame")
    detail_lines: tuple[str, ...] = Field(description="file:line of the first fault's details")
    pointer_lines: tuple[str, ...]
    secondary_lines: tuple[str, ...]
    noise_lines: tuple[str, ...]
    unknown_lines: tuple[str, ...]
    lists_complete: bool = Field(
        description="false when the input was so large that only the first of each list are named"
    )
    pointers: tuple[Pointer, ...]
    counts: dict[str, int] = Field(description="records per class as the rules see them, all of them")
    ranks: tuple[RankCount, ...]
    distribution: tuple[Shape, ...]
    timeline: tuple[Point, ...]
    server: Server | None
    notes: tuple[str, ...]
    unread: tuple[str, ...] = Field(default=(), description="what was not read to its end, each with its reason")
    earliest_error: LoggedError | None = Field(default=None, description="of an outcome `errors`")
    clues: tuple[Clue, ...] = Field(default=(), description="what a search for the fix has its words from")
    files: int
    bytes: int

    @property
    def exit_code(self) -> int:
        """1: a first fault was found. 0: the logs are healthy. 4: unknown."""
        return {"first-fault": 1, "healthy": 0}.get(self.outcome, 4)

    def list_lines(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Return the name and lines of each class, the most telling first."""
        yield "detail", self.detail_lines
        yield "pointer", self.pointer_lines
        yield "secondary", self.secondary_lines
        yield "noise", self.noise_lines
        yield "unknown", self.unknown_lines
