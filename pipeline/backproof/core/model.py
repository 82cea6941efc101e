"""The terms of the product as frozen data: outcomes, levels, arms, evidence. No I/O."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from backproof.core.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError


class Record(BaseModel):
    """Base of everything that is read from or written to disk."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def describe_problems(error: ValidationError, most: int = 5) -> str:
    """Return the first problems of a record, each with its key and reason."""
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:most])


class StageRecord(Record):
    """What a stage leaves in the run folder."""

    subject: str = Field(default="", description="digest of what the run is of; empty outside of a run")


class Outcome(StrEnum):
    """The outcome of a stage or a run, best first. FAIL and ERROR never merge.

    RUNNING is what run.json says until the command ends: a command that was killed leaves it.
    """

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    SKIP = "skip"
    ABORTED = "aborted"
    INCONCLUSIVE = "inconclusive"
    RUNNING = "running"
    ERROR = "error"
    PERSON = "person-needed"
    FAIL = "fail"

    @property
    def exit_code(self) -> ExitCode:
        return _EXIT[self]


_EXIT: dict[Outcome, ExitCode] = {
    Outcome.PASS: ExitCode.PASS,
    Outcome.SKIP: ExitCode.PASS,
    Outcome.ABORTED: ExitCode.ERROR,
    Outcome.INCONCLUSIVE: ExitCode.ERROR,
    Outcome.RUNNING: ExitCode.ERROR,
    Outcome.ERROR: ExitCode.ERROR,
    Outcome.PERSON: ExitCode.PERSON,
    Outcome.FAIL: ExitCode.FAIL,
}
_WORST_FIRST = tuple(reversed(Outcome))


def worst_outcome(outcomes: Iterable[Outcome]) -> Outcome:
    """Return the outcome of a group; that of an empty one is ERROR, for no evidence is no pass."""
    present = set(outcomes)
    return next((outcome for outcome in _WORST_FIRST if outcome in present), Outcome.ERROR)


class StageRole(StrEnum):
    """The part that a stage plays in the verdict.

    PROOF counts; BESIDE is shown and counts for nothing (the pull request, other configurations, the host); AFTERWARDS
    reports the verdict.
    """

    PROOF = "proof"
    BESIDE = "beside"
    AFTERWARDS = "afterwards"


class Arm(StrEnum):
    """One version of the code under test."""

    BASE = "base"
    PICK = "pick"
    FIXED = "fixed"


def show_path(path: Any) -> Any:
    """Return a path as text; bytes that are not UTF-8 become escapes, for JSON cannot hold them."""
    return (
        path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") if isinstance(path, str) else path
    )


ShownPath = Annotated[str, BeforeValidator(show_path)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Evidence(Record):
    """A file in the run folder with its hash, the command that made it, and the claim it supports."""

    path: str = Field(description="relative to run.json, POSIX separators")
    sha256: Sha256
    claim: str
    command: str


class Finding(Record):
    """One sentence that a person should read, with how much it weighs."""

    severity: Literal["note", "warning", "fail"]
    text: str
    where: str = ""

    @property
    def line(self) -> str:
        """The finding as one line of plain text."""
        return f"{self.severity}: {self.where + ': ' if self.where else ''}{self.text}"
