"""A device that is none: what a check asks of any device, answered by the plain interpreter.

Standard library only: a target without torch must not get it, and one with torch only when the check imports it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMITS = (
    (
        "Checks ran on a plain CPU, in the target's own interpreter: without a memory model, an access out of bounds "
        "or a read of memory that was never written is seen only where it changes what a check compares."
    ),
)


class Cpu:
    """One test's observations; there is no memory of a device to watch, so there are no faults."""

    kind = "cpu"

    def __init__(self) -> None:
        self.faults: list[Any] = []
        self.observations: dict[str, Any] = {}

    def observe(self, **facts: Any) -> None:
        """Facts of this test for the report."""
        self.observations.update(facts)

    def verdict(self) -> None:
        """Nothing beyond what the test itself compares."""


@contextmanager
def opened() -> Iterator[Cpu]:
    yield Cpu()
