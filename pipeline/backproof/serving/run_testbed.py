"""The testbed of a run: its folder, its target and its device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backproof import devices
from backproof.host.identity import read_identity
from backproof.install import arms
from backproof.serving.testbed import Testbed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.core.time_budget import TimeBudget
    from backproof.devices.protocol import Session
    from backproof.rundir.context import Context


def host_facts(ctx: Context) -> dict[str, str]:
    """Return the device's facts, and host and boot for every device: rounds of another place are not compared."""
    here = read_identity()
    described = devices.get_device(ctx.settings.device).describe(Path(ctx.settings.python))
    return {"host": here.host, "boot_id": here.boot_id, **described}


def make_testbed(
    ctx: Context, folder: str, session: Session, *, budget: TimeBudget, env: Mapping[str, str], model: str
) -> Testbed:
    """Return what all rounds of one command share."""
    return Testbed(
        ledger=ctx.ledger,
        python=Path(ctx.settings.python),
        words={"kit": str(ctx.kit), "model": model},
        env=env,
        facts=host_facts(ctx),
        session=session,
        install=lambda arm: arms.install_arm(ctx, arm),
        budget=budget,
        say=ctx.say,
        folder=folder,
    )
