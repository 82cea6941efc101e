"""The JSON of survey, explain, compare and the rest: one frozen, documented record each."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from backproof.core.model import Record, ShownPath
from backproof.history.try_causes import TrialVerdict  # noqa: TC001 - pydantic reads the types
from backproof.records.picks import ConflictRecord, PickOutcome  # noqa: TC001 - pydantic reads the types

_SUSPECTS = "names and arguments that the pick uses and the release lacks"


class CauseRecord(Record):
    """A commit that explains conflicts, and the result of its trials."""

    commit: str
    subject: str
    pull: int | None
    side: Literal["main", "release"] = Field(description="main: the release lacks it; release: only the release has it")
    how: str
    lines: int = Field(description="conflicting lines that it explains")
    of: int = Field(description="conflicting lines in the files that it explains")
    files: tuple[ShownPath, ...]
    weak: bool = Field(description="no line names it; it changed the same file")
    verdict: TrialVerdict
    solves: tuple[ShownPath, ...] = Field(description="files whose conflict goes away with it")
    sentence: ShownPath


class SidesRecord(Record):
    """A place that a person has to adapt."""

    path: ShownPath
    line: int = Field(description="on the branch, from 1")
    branch: str = Field(description="the lines that the branch has there, cut where they are many")
    fix: str = Field(description="the lines that the fix has there")


class FollowUp(Record):
    """A later commit on main that concerns the fix."""

    commit: str
    subject: str
    kind: Literal["revert", "revert of the revert", "fix", "mentions"]


class ExplainRecord(Record):
    """`backproof history explain --json`."""

    schema_version: Literal[2] = 2
    fix: str
    subject: str
    branch: str
    ref: str = Field(default="", description="the whole ref that was used, or the revision that was given")
    release: str
    outcome: PickOutcome
    conflicts: tuple[ConflictRecord, ...] = ()
    causes: tuple[CauseRecord, ...] = Field(default=(), description="at most three, best first")
    together: tuple[str, ...] = Field(default=(), description="commits that, picked in this order, make the fix land")
    hunks_alone: bool = Field(default=False, description="of these only the hunks that the lines in conflict rest on")
    more: int = Field(default=0, description="causes that are not shown")
    follow_ups: tuple[FollowUp, ...] = ()
    notes: tuple[ShownPath, ...] = Field(
        default=(), description="what the branch has of it, and who took it back, on main or on the branch"
    )
    suspects: tuple[ShownPath, ...] = Field(default=(), description=_SUSPECTS)
    limits: tuple[str, ...] = Field(default=(), description="what was not checked")
    sides: tuple[SidesRecord, ...] = Field(default=(), description="the first places to adapt, where no commit helps")
    sentence: ShownPath
    commands: tuple[str, ...] = Field(description="how to go on; lines that start with # are for people")


class SurveyRow(Record):
    """One commit on one branch."""

    branch: str
    release: str
    commit: str
    outcome: PickOutcome
    there: str = Field(default="", description="how it is known that the branch has the change")
    affected: Literal["yes", "partly", "no", "unknown"] = "unknown"
    why: ShownPath = ""
    notes: tuple[ShownPath, ...] = Field(default=(), description="who took the fix back, on main or on the branch")
    conflicts: tuple[ConflictRecord, ...] = ()
    only_in_dropped: bool = False
    dropped: tuple[ShownPath, ...] = ()
    tree: str | None = Field(default=None, description="the tree that a pick gives, where it lands")
    lacks: tuple[FollowUp, ...] = Field(default=(), description="follow-ups on main that the branch would lack")
    suspects: tuple[ShownPath, ...] = Field(default=(), description=_SUSPECTS)


class SurveyRecord(Record):
    """`backproof history survey --json`."""

    schema_version: Literal[2] = 2
    commits: dict[str, str] = Field(description="full hash to subject")
    main: str
    rows: tuple[SurveyRow, ...]
    limits: tuple[str, ...] = Field(default=(), description="what this clone cannot show")
    seconds: float


class CompareRecord(Record):
    """`backproof history compare --json`."""

    schema_version: Literal[1] = 1
    backport: str
    originals: tuple[str, ...]
    verdict: Literal["identical", "identical-after-declared", "adapted", "mismatch"]
    sentence: ShownPath
    simulated: PickOutcome
    undeclared: tuple[ShownPath, ...] = Field(default=(), description="paths that differ and that nothing declares")
    declared: tuple[ShownPath, ...] = Field(default=(), description="paths that differ as the plan declares")
    suspects: tuple[ShownPath, ...] = Field(default=(), description=_SUSPECTS)
    limits: tuple[str, ...] = Field(default=(), description="what was not checked")
    range_diff: str = ""


class CancellingRecord(Record):
    """`backproof history redundant --json`."""

    schema_version: Literal[1] = 1
    base: str
    head: str
    commits: dict[str, str] = Field(description="hash to subject, oldest first")
    needed: tuple[str, ...] = Field(description="the smallest set that gives the same tree")
    cancelling: tuple[tuple[str, ...], ...] = Field(description="commits that together change nothing")
    sentence: ShownPath


class FoundFix(Record):
    """A commit of main that may be the fix of a failure."""

    commit: str
    subject: str
    score: float = Field(description="the sum over the shared words: how much each tells, times how rare it is")
    shared: tuple[ShownPath, ...] = Field(
        description="the words that it shares with the failure, the most telling first"
    )
    outcome: PickOutcome | None = Field(default=None, description="of a pick to the release; null where none was tried")
    affected: Literal["yes", "partly", "no", "unknown"] = "unknown"


class FindRecord(Record):
    """What a search in a repository's own history gave."""

    release: str
    candidates: int = Field(description="commits of main that the release does not have")
    searched_by: tuple[ShownPath, ...]
    fixes: tuple[FoundFix, ...]
