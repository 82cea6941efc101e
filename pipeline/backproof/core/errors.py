"""Every failure a user can meet, with its exit code and what to do next.

They live together so that the exit codes stay one table. FAIL (the backport is bad) is an outcome, not an error: no
class here has exit code 1.
"""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The documented exit codes of the command."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    PERSON = 3
    ERROR = 4
    BUG = 70
    INTERRUPTED = 130


class BackproofError(Exception):
    """What failed, why, and what to do next: three sentences that the user reads."""

    exit_code: ClassVar[ExitCode] = ExitCode.BUG

    def __init__(self, what: str, *, why: str, next_step: str) -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.what}\n  why: {self.why}\n  next: {self.next_step}"


class PlanError(BackproofError):
    """The plan, a rule file or an option is invalid: nothing ran."""

    exit_code = ExitCode.USAGE


class NeedsReview(BackproofError):  # noqa: N818 - it is a verdict about who acts next
    """A conflict, a drifted file: only a person can decide."""

    exit_code = ExitCode.PERSON


class HostError(BackproofError):
    """The host, a tool, the disk or the network kept us from an answer: we could not tell."""

    exit_code = ExitCode.ERROR


class TargetError(HostError):
    """The target interpreter did not do what was asked of it."""


class DeviceError(HostError):
    """The device is absent, busy or unhealthy."""


class GitHubError(HostError):
    """GitHub refused or did not answer."""


class Interrupted(BackproofError):  # noqa: N818 - an event, not a mistake
    """The user or the system stopped the run."""

    exit_code = ExitCode.INTERRUPTED


def host_error(error: OSError) -> BackproofError:
    """What the system refused, in our three sentences."""
    where = f" ({error.filename})" if error.filename else ""
    advice = {
        errno.ENOSPC: "free some disk, then run the same command again: what is done is kept",
        errno.EDQUOT: "free some of your quota, then run the same command again: what is done is kept",
        errno.EACCES: "give this user the right to that path, or choose another --out",
        errno.EROFS: "choose an --out on a disk that can be written",
    }
    return HostError(
        f"the system refused an operation{where}",
        why=error.strerror or str(error),
        next_step=advice.get(error.errno or 0, "mend the cause, then run the same command again: what is done is kept"),
    )
