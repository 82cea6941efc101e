"""What a check asks of any device. Standard library only: a target without torch must not get it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof_target.faults import Fault


@dataclass
class CapturedGraph:
    """What a capture gave: replay it, then look at the same result tensors."""

    replay: Callable[[], None]
    result: Any


class Device:
    """One test's observations, notes and faults; on a plain CPU there is no memory to watch, so there are no faults."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.faults: list[Fault] = []
        self.observations: dict[str, Any] = {}
        self.notes: list[dict[str, Any]] = []

    def observe(self, **facts: Any) -> None:
        """Facts of this test for the report; they decide nothing."""
        self.observations.update(facts)

    def classify(self, tensor: Any) -> str:
        """What a tensor holds, in one word: none, zero, finite or nan."""
        host = tensor.detach().cpu()
        if host.numel() == 0:
            return "none"
        if bool((host == 0).all()):
            return "zero"
        return "finite" if bool(host.isfinite().all()) else "nan"

    def verdict(self) -> None:
        """Judge nothing beyond what the test itself compares."""
