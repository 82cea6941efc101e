"""What the target's side is told where the operators are the device's own: nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.kit.plan import Plan


def request(kit: Path, plan: Plan, model: str) -> None:
    """Ask for no operator model."""
    del kit, plan, model
