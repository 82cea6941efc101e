"""The environment beside what the release was validated with: as stages met it, and as the doctor read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.host.baseline import compare_versions, normalise_name
from backproof.records.host import Deviation, DoctorRecord, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.rundir.loaded_run import LoadedRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """One row, and the stage that found it; "" where none looked."""

    row: Deviation
    stage: str


def list_drift(
    loaded: LoadedRun, baseline: Mapping[str, str], met: Sequence[tuple[str, str, str, str]]
) -> tuple[Drift, ...]:
    """The doctor's rows, then what stages met and the doctor does not say: where both differ, both are shown.

    Args:
        loaded: with the doctor's record, where there is one.
        baseline: versions that the release was validated with.
        met: name, value, validated version and stage.
    """
    told = loaded.doctor.deviations if loaded.doctor else ()
    said = {(normalise_name(each.name), each.found) for each in told}
    named = {normalise_name(each.name) for each in told}
    mine = tuple(Drift(row=each, stage=loaded.registry.name_of(DoctorRecord)) for each in told)
    return (*mine, *(each for each in _met(baseline, met) if _is_new(each.row, said, named)))


def _met(baseline: Mapping[str, str], met: Sequence[tuple[str, str, str, str]]) -> tuple[Drift, ...]:
    readings = [Reading(name=name, value=value, source=f"stage {stage}") for name, value, _, stage in met]
    stages = {normalise_name(name): stage for name, _, _, stage in met}
    rows = compare_versions(readings, baseline) if readings else ()
    return tuple(Drift(row=each, stage=stages.get(normalise_name(each.name), "")) for each in rows)


def _is_new(row: Deviation, said: set[tuple[str, str | None]], named: set[str]) -> bool:
    """A stage that read nothing adds nothing to a doctor who looked."""
    name = normalise_name(row.name)
    return (name, row.found) not in said and not (row.found is None and name in named)


def describe_doctor_host(loaded: LoadedRun) -> str:
    """Whether the doctor looked at the host of the results: a package can change with the boot, or be another host's."""
    if loaded.doctor is None or loaded.inventory is None:
        return "The checks kept no inventory of their host: nothing tells whether it is this one."
    here, there = ((each.host, each.boot_id) for each in (loaded.doctor, loaded.inventory))
    if here == there:
        return "This is the host of the checks, in the same boot."
    return "This is not the host of the checks, or not the same boot."
