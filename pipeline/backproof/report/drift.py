"""The environment beside what the release was validated with: as stages met it, and as the doctor read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from backproof.host.baseline import compare_versions
from backproof.records.host import Deviation, DoctorRecord, Reading

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from backproof.report.view import Fact
    from backproof.rundir.loaded_run import LoadedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """One row, and the stage that found it; "" where none looked."""

    row: Deviation
    stage: str


def list_drift(loaded: LoadedRun, baseline: Mapping[str, str], met: Sequence[Fact]) -> tuple[Drift, ...]:
    """List the doctor's rows, then what stages met and the doctor does not say: where both differ, both are shown.

    Args:
        loaded: with the doctor's record, where there is one.
        baseline: versions that the release was validated with.
        met: what stages found.
    """
    deviations = loaded.doctor.deviations if loaded.doctor else ()
    read = {(canonicalize_name(row.name), row.found) for row in deviations}
    stage = loaded.registry.name_of(DoctorRecord)
    rows = tuple(Drift(row=row, stage=stage) for row in deviations)
    return (*rows, *(drift for drift in _compare_facts(baseline, met) if _is_new(drift.row, read)))


def _compare_facts(baseline: Mapping[str, str], met: Sequence[Fact]) -> tuple[Drift, ...]:
    readings = [Reading(name=fact.name, value=fact.value, source=f"stage {fact.stage}") for fact in met]
    stages = {canonicalize_name(fact.name): fact.stage for fact in met}
    rows = compare_versions(readings, baseline) if readings else ()
    return tuple(Drift(row=row, stage=stages.get(canonicalize_name(row.name), "")) for row in rows)


def _is_new(row: Deviation, read: Collection[tuple[str, str | None]]) -> bool:
    """Return whether the doctor did not read it: a stage that read nothing adds nothing to a doctor who looked."""
    name = canonicalize_name(row.name)
    return (name, row.found) not in read and not (row.found is None and any(name == other for other, _ in read))


def describe_doctor_host(loaded: LoadedRun) -> str:
    """Say whether the doctor looked at the host of the results: a package can change with the boot, or be another host's."""
    if loaded.doctor is None or loaded.inventory is None:
        return "The checks kept no inventory of their host: nothing tells whether it is this one."
    here, there = ((record.host, record.boot_id) for record in (loaded.doctor, loaded.inventory))
    if here == there:
        return "This is the host of the checks, in the same boot."
    return "This is not the host of the checks, or not the same boot."
