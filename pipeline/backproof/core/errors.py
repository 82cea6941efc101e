"""Errors that a user can meet, each with its exit code and the next step.

They are in one module so that the exit codes stay one table. FAIL (the backport is bad) is an outcome, not an error: no
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
    """A failure in three sentences for the user: what failed, why, and what to do next."""

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


class NeedsReview(BackproofError):  # noqa: N818 - it names who acts next
    """A conflict, a drifted file: only a person can decide."""

    exit_code = ExitCode.PERSON


class HostError(BackproofError):
    """The host, a tool, the disk or the network prevented an answer: the result is unknown."""

    exit_code = ExitCode.ERROR


class TargetError(HostError):
    """The target interpreter did not do what was asked of it."""


class DeviceError(HostError):
    """The device is absent or unhealthy."""


class BusyError(HostError):
    """Another run has the target or the device: the same call succeeds when that one has ended."""


class GitHubError(HostError):
    """GitHub refused or did not answer."""


class Interrupted(BackproofError):  # noqa: N818 - an event, not a mistake
    """The user or the system stopped the run."""

    exit_code = ExitCode.INTERRUPTED


def explain_os_error(error: OSError) -> BackproofError:
    """Return what the system refused as an error of three sentences."""
    where = f" ({error.filename})" if error.filename else ""
    advice = {
        errno.ENOSPC: "free some disk, then run the same command again: finished work is kept",
        errno.EDQUOT: "free some of your quota, then run the same command again: finished work is kept",
        errno.EACCES: "give this user access to that path, or choose another --out",
        errno.EROFS: "choose an --out on a writable disk",
    }
    return HostError(
        f"the system refused an operation{where}",
        why=error.strerror or str(error),
        next_step=advice.get(error.errno or 0, "fix the cause, then run the same command again: finished work is kept"),
    )
