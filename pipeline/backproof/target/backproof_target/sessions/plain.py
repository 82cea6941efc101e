"""The plain interpreter: what a check asks of any device, with no device there.

Standard library only: a target without torch must not get it, and one with torch only when the check imports it.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from backproof_target.launches import LaunchLog
    from backproof_target.reach import Reach
    from backproof_target.request import Request


class PlainDevice:
    """One test's observations; there is no memory of a device to watch, so there are no faults."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.faults: list[Any] = []
        self.observations: dict[str, Any] = {}

    def observe(self, **facts: Any) -> None:
        """Add facts of this test to the report."""
        self.observations.update(facts)

    def verdict(self) -> None:
        """Judge nothing beyond what the test itself compares."""


def prepare(
    request: Request, answer: dict[str, Any], log: LaunchLog, reach: Reach
) -> Callable[[], AbstractContextManager[PlainDevice]]:
    """Leave the interpreter as the target's users have it."""
    del answer, log, reach
    return partial(_open, request.device)


@contextmanager
def _open(kind: str) -> Iterator[PlainDevice]:
    yield PlainDevice(kind)
