"""serve-check of a service that somebody else started: its address is all that is known.

What it shows is said, and counts for no level: nothing tells which code it runs, nor on what.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.devices import emulator
from backproof.host.identity import read_identity
from backproof.serving.check import check
from backproof.serving.testbed import Testbed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backproof.core.model import Arm
    from backproof.core.time_budget import Budget
    from backproof.kit.serving import Serve
    from backproof.records.serving import ServeRecord
    from backproof.rundir.ledger import Ledger

FILE = "address.json"
"""Not the record of a stage: no verdict reads this."""


def check_address(
    ledger: Ledger, folder: str, serve: Serve, url: str, arm: Arm, *, budget: Budget, say: Callable[[str], None]
) -> ServeRecord:
    """The steps of one [[serve]] against an address; `arm` is what the user says that runs there."""
    here = read_identity()

    def install(_: Arm) -> nullcontext[Mapping[str, str | None]]:
        return nullcontext({})

    with ledger.locked(), emulator.opened(Path(), ledger.folder, {}) as nothing:
        bed = Testbed(
            ledger=ledger,
            python=Path(),
            words={},
            env={},
            facts={"host": here.host, "boot_id": here.boot_id, "url": url},
            session=nothing,
            install=install,
            budget=budget.start(),
            say=say,
            url=url,
            folder=folder,
        )
        found = check(bed, serve, (), (arm,))
        ledger.write(f"{folder}/{FILE}", found)
    return found
