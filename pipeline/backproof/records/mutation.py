"""What became of the wrong versions of a fix."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from backproof.core.model import Record, Sha256, ShownPath, StageRecord

MUTANTS_FILE = "mutants.patch"
"""The wrong versions as changes of the fix, beside mutate.json."""

Ending = Literal["caught", "survived", "timeout", "error", "not-tried"]


class TriedMutant(Record):
    """One wrong version: where it differs from the fix, and what the proofs showed on it."""

    id: Annotated[str, Field(description="the same as long as the file and the change stay")]
    path: ShownPath
    line: Annotated[int, Field(description="of the fixed file")]
    operator: str
    before: Annotated[str, Field(description="the first line that differs, as the fix has it")]
    after: Annotated[str, Field(description="the same line of the wrong version")]
    sha256: Sha256
    ending: Ending
    by: Annotated[str, Field(description="check and operator model of the proof that caught it")] = ""
    why: Annotated[
        str, Field(description="the test that caught it and what that showed; or why it could not be told")
    ] = ""
    equivalent: Annotated[str, Field(description="the plan's reason why it is no wrong version")] = ""


class MutationRecord(StageRecord):
    """mutate/mutate.json. The operators are a fixed list: figures of two versions of it are not compared."""

    schema_version: Literal[1] = 1
    operators: int = Field(description="version of the list of operators")
    proofs: tuple[str, ...] = Field(description="check and operator model of each proof, in the order of trying")
    mutants: tuple[TriedMutant, ...]
    unread: tuple[str, ...] = Field(default=(), description="files of the fix that no mutant was made of, and why")
    seconds: float = 0
    budget: float | None = Field(default=None, description="seconds that were allowed; null: no limit")

    def list_with(self, *endings: Ending) -> tuple[TriedMutant, ...]:
        """Return the mutants that ended in one of these ways, those that the plan declares equivalent left out."""
        return tuple(item for item in self.mutants if item.ending in endings and not item.equivalent)

    @property
    def caught(self) -> tuple[TriedMutant, ...]:
        """Return those that a proof was red on, whatever the plan declares."""
        return tuple(item for item in self.mutants if item.ending == "caught")

    @property
    def equivalent(self) -> tuple[TriedMutant, ...]:
        """Those that the plan declares equivalent and no proof caught."""
        return tuple(item for item in self.mutants if item.equivalent and item.ending != "caught")
