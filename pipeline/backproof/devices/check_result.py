"""What a check's process leaves: one file, read as frozen data."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from backproof.core.model import Record
from backproof.records.raised import Raised  # noqa: TC001 - pydantic reads it


class Fault(Record):
    """One access that the device would refuse, or that would silently spoil a result."""

    kind: str
    task: int
    engine: str
    name: str
    argument: str | None = None
    row: int | None = None
    index: int | None = None
    owner: str | None = None
    offset: int | None = None
    extent: int | None = None
    text: str


class TestResult(Record):
    """One test of the check."""

    __test__ = False
    nodeid: str
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed"] = Field(
        description="as pytest has it: what fails outside the call is an error; `verdict.endings` says what it means"
    )
    phase: Literal["setup", "call", "teardown"] = Field(default="call", description="the one that decided the outcome")
    raised: tuple[Raised, ...] = Field(default=(), description="the exception of that phase, then what it came from")
    seconds: float = 0
    message: str = ""
    detail: str = ""
    faults: tuple[Fault, ...] = ()
    observations: dict[str, Any] = {}


class Loaded(Record):
    """A module of the patch as the check's process loaded it."""

    module: str
    file: str
    sha256: str
    source_sha256: str | None = Field(default=None, description="the source known to have run; None: not known")
    loader: str | None = None
    cached: str | None = None
    replaced: tuple[str, ...] = Field(default=(), description="functions that say they are of the file and are not")


class Launch(Record):
    """A kernel that was launched, with the hash of the source that was compiled."""

    kernel: str
    file: str
    first_line: int
    last_line: int
    source_sha256: str
    constexprs: tuple[dict[str, Any], ...] = ()
    count: int = 0


class CheckResult(Record):
    """The file that the check runner leaves."""

    schema_: Literal[2] = Field(alias="schema")
    nonce: str
    versions: dict[str, str] = {}
    loaded: tuple[Loaded, ...] = ()
    tests: tuple[TestResult, ...] = ()
    faults: dict[str, int] = {}
    launches: tuple[Launch, ...] = ()
    reached: dict[str, tuple[int, ...]] = {}
    limits: tuple[str, ...] = ()
    model: dict[str, Any] = {}
    pytest_exit: int | None = None
    error: dict[str, Any] | None = None
