"""Types that every part of the plan uses: names, paths inside the kit, what an arm must show."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from backproof.core.model import Arm, Record

_EXPECTED = re.compile(r"^(pass|fail|fault:[a-z][a-z0-9-]*)$")


def _check_path(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts:
        raise ValueError("must be a path inside the kit, without '..'")
    return path


def _check_expectation(text: str) -> str:
    if not _EXPECTED.match(text):
        raise ValueError('must be "pass", "fail" or "fault:<kind>", for example "fault:mte-out-of-range"')
    return text


KitPath = Annotated[str, AfterValidator(_check_path)]
Expectation = Annotated[str, AfterValidator(_check_expectation)]
CommitName = Annotated[str, Field(pattern=r"^[0-9a-f]{7,40}$")]
Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.+_-]*$", max_length=100)]


class Expected(Record):
    """The outcomes that the arms must show under one operator model (or on the device)."""

    base: Expectation
    pick: Expectation
    fixed: Expectation
    role: Literal["proof", "guard", "limit"] = Field(
        default="proof",
        description="proof: red on base, green on fixed; guard: green everywhere; limit: still red on fixed, and said",
    )
    meaning: str = ""

    def for_arm(self, arm: Arm) -> str:
        return {Arm.BASE: self.base, Arm.PICK: self.pick, Arm.FIXED: self.fixed}[arm]

    @model_validator(mode="after")
    def _role_holds(self) -> Expected:
        if self.role != "limit" and self.fixed != "pass":
            raise ValueError(f'a {self.role} must expect fixed = "pass"; declare role = "limit" and say its meaning')
        if self.role == "limit" and (self.fixed == "pass" or not self.meaning):
            raise ValueError("a limit must expect fixed to differ from pass, and give its meaning")
        return self
