"""What is tried beside the points of a run: a real file system that is too small, and publishing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import attempt
import choose
import contract
import publishing
import small_disk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from attempt import Bench, Troubles

Row = tuple[str, str, str, "Troubles"]
"""Stage, fault, where, and what did not hold."""


def _on_small_disks(made: Bench) -> Iterator[Row]:
    attempt.fresh(made)
    attempt.command(made, made.job.arguments())
    whole = small_disk.needed(made)
    with small_disk.mounted(made.job.folder / small_disk.DISK) as refused:
        if refused:
            print(f"skipped, not counted: a full disk that is real: it cannot be mounted here: {refused}", flush=True)
            return
        for part in small_disk.PARTS:
            yield "any", "ENOSPC (small disk)", f"{part} % of the space", small_disk.tried(made, part, whole)


def _publishing(made: Bench) -> Iterator[Row]:
    try:
        contract.rest()
        contract.graph()
    except (OSError, AssertionError, subprocess.SubprocessError) as error:
        print(f"skipped, not counted: publishing: GitHub's published contract is not here: {error}", flush=True)
        return
    with publishing.hub(made) as (stand_in, there):
        kept = publishing.keep(there)
        met = attempt.recorded(there, publishing.argv(there), stage="publish")
        for each in choose.of_publishing(met):
            publishing.again(stand_in, there, kept)
            troubles = publishing.struck(stand_in, there, (each.point, each.count), choose.FAULTS[each.fault])
            yield "publish", each.fault, each.where, troubles
        for kind in publishing.REPLIES:
            publishing.again(stand_in, there, kept)
            yield "publish", f"reply: {kind}", "POST comment", publishing.answered(stand_in, there, kind)


ALL: tuple[Callable[[Bench], Iterator[Row]], ...] = (_on_small_disks, _publishing)
