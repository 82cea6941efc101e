"""serve-check of a service that somebody else started: its address is all that is known.

Its result is shown and counts for no level: nothing tells which code the service runs, nor on what.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.devices.no_hardware import open_session
from backproof.host.identity import read_identity
from backproof.serving.check import check_serving
from backproof.serving.testbed import Testbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from backproof.core.model import Arm
    from backproof.core.time_budget import TimeBudget
    from backproof.kit.serving import Serve
    from backproof.records.serving import ServeRecord
    from backproof.rundir.ledger import Ledger

FILE = "address.json"
"""Not serve.json: no verdict reads this."""


def check_address(
    ledger: Ledger, folder: str, serve: Serve, url: str, arm: Arm, *, budget: TimeBudget, say: Callable[[str], None]
) -> ServeRecord:
    """Run the steps of one [[serve]] against an address; `arm` is the one that runs there, as the user claims."""
    here = read_identity()
    with ledger.hold_lock(), open_session(Path(), ledger.folder, {}) as session:
        testbed = Testbed(
            ledger=ledger,
            python=Path(),
            words={},
            env={},
            facts={"host": here.host, "boot_id": here.boot_id, "url": url},
            session=session,
            install=lambda _: nullcontext({}),
            budget=budget.start(),
            say=say,
            url=url,
            folder=folder,
        )
        record = check_serving(testbed, serve, (), (arm,))
        ledger.write_record(f"{folder}/{FILE}", record)
    return record
