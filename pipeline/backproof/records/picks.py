"""The outcomes of a cherry-pick and the kinds of conflict: the same words in a run, in survey, explain and compare."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from backproof.core.model import Record, ShownPath


class PickOutcome(StrEnum):
    """How a pick ends. `UNKNOWN` is not a conflict: an object is missing, so nothing can be said."""

    CLEAN = "clean"
    CLEAN_AFTER_DROPS = "clean-after-drops"
    EMPTY = "empty"
    ALREADY_THERE = "already-there"
    MERGE_COMMIT = "merge-commit"
    CONFLICT = "conflict"
    UNKNOWN = "unknown"


class ConflictKind(StrEnum):
    """Why one path cannot be merged."""

    CONTENT = "content"
    DELETED_BY_FIX = "modify/delete: the fix deletes what the branch changed"
    DELETED_BY_BRANCH = "modify/delete: the branch does not have this file"
    ADD_ADD = "add/add"
    RENAME = "rename"
    DIRECTORY_RENAME = "directory rename"
    SUBMODULE = "submodule"
    MODE = "mode"
    FILE_DIRECTORY = "file/directory"


class ConflictRecord(Record):
    """One path in conflict."""

    path: ShownPath
    kind: ConflictKind
    dropped: bool = Field(
        default=False, description="the plan (or --drop) leaves this path out, so that it is no real conflict"
    )
    lines: int = Field(default=0, description="conflicting lines of the common base; 0 where there are none to count")
