"""This host beside a kit's baseline, as one record."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backproof.host import baseline as readings
from backproof.host.identity import read_identity
from backproof.records.host import DoctorRecord
from backproof.rundir.ledger import now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backproof.kit.plan import Baseline


def compare_host(baseline: Baseline, python: Path | None, arguments: Sequence[str]) -> DoctorRecord:
    """Compare versions, environment and, where given, launch arguments with what the release was validated with."""
    here, found = read_identity(), readings.read(python)
    rows = [*readings.compare(found, baseline.versions)]
    rows += readings.compare_arguments(baseline.arguments, arguments) if arguments else ()
    rows += readings.compare_environment(baseline.environment, os.environ)
    return DoctorRecord(
        at=now(),
        host=here.host,
        boot_id=here.boot_id,
        deviations=tuple(rows),
        unread=tuple(reading for reading in found if reading.value is None),
    )
