"""A run from the files of a bundle alone: no run folder, no kit, no machine of anybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from backproof.bundle.archive import InvalidBundleError
from backproof.bundle.manifest import PLAN, RUN
from backproof.core.model import Record, describe_problems
from backproof.devices import DEVICES
from backproof.kit.plan import Plan
from backproof.records.proof import Run
from backproof.report import render
from backproof.rundir.loaded_run import record_paths
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.bundle.manifest import Manifest
    from backproof.core.model import Evidence
    from backproof.rundir.loaded_run import LoadedRun

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReplayedRun:
    """A run that was judged again, with its plan, and run.json as the run had left it."""

    loaded: LoadedRun
    plan: Plan
    recorded: Run

    @property
    def comment(self) -> str:
        return render.render_comment(self.loaded, self.plan, hide=render.hide_controls_only)

    @property
    def recorded_paths(self) -> frozenset[str]:
        """The files that the run registered as evidence, those of its report included, as paths in the bundle."""
        return frozenset(f"{RUN}{item.path}" for item in replace(self.loaded, run=self.recorded).evidence)


@dataclass(frozen=True, kw_only=True, slots=True)
class _BundledRun:
    """The files of a run as a bundle has them; one holds when it was as recorded before anything was taken out of it."""

    files: Mapping[str, bytes]
    originals: Mapping[str, str | None]
    place: str = ""

    def read_bytes(self, path: str, limit: int = -1) -> bytes:
        data = self.files[f"{RUN}{path}"]
        return data if limit < 0 else data[:limit]

    def holds(self, evidence: Evidence) -> bool:
        return self.originals.get(f"{RUN}{evidence.path}") == evidence.sha256


def replay_run(manifest: Manifest, files: Mapping[str, bytes]) -> ReplayedRun:
    """Read the records of a bundle and judge the run again.

    Raises:
        InvalidBundleError: a record cannot be read.
    """
    recorded = read_record(files, f"{RUN}run.json", Run)
    originals = {entry.path: entry.original_sha256 for entry in manifest.files}
    plan = read_record(files, PLAN, Plan)
    loaded = run_verdict.read_run(_BundledRun(files=files, originals=originals), recorded, REGISTRY, plan)
    for kind, path in record_paths(REGISTRY).items():
        if loaded.find_file(path) and path not in loaded.altered:
            read_record(files, f"{RUN}{path}", kind)
    return ReplayedRun(loaded=loaded, plan=plan, recorded=recorded)


def read_record(files: Mapping[str, bytes], name: str, kind: type[R]) -> R:
    """Return a file of the bundle as a record.

    Raises:
        InvalidBundleError: it is not there, or not such a record.
    """
    try:
        return kind.model_validate_json(files[name], context=DEVICES)
    except KeyError:
        raise InvalidBundleError(f"it has no {name}") from None
    except ValidationError as error:
        raise InvalidBundleError(f"{name}: {describe_problems(error, 1)}") from error
