"""A run from the files of a bundle alone: no run folder, no kit, no machine of anybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from backproof.bundle.archive import InvalidBundleError
from backproof.bundle.manifest import PLAN, RUN
from backproof.core.model import Record
from backproof.devices import DEVICES
from backproof.kit.plan import Plan
from backproof.records.proof import Run
from backproof.report import render
from backproof.rundir.loaded_run import LoadedRun, before_report, patch_paths, record_paths
from backproof.stages import REGISTRY
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.bundle.manifest import Manifest
    from backproof.core.model import Evidence

R = TypeVar("R", bound=Record)
_PATCH_LIMIT = 200_000


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
    def recorded_evidence(self) -> tuple[Evidence, ...]:
        """All evidence that the run registered, that of its report included."""
        return replace(self.loaded, run=self.recorded).evidence


def replay_run(manifest: Manifest, files: Mapping[str, bytes]) -> ReplayedRun:
    """Read the records of a bundle and judge the run again.

    Raises:
        InvalidBundleError: a record cannot be read.
    """
    recorded = read_record(files, f"{RUN}run.json", Run)
    originals = {entry.path.removeprefix(RUN): entry.original_sha256 for entry in manifest.files}
    bare = LoadedRun(run=recorded, registry=REGISTRY)
    altered = _find_altered(bare, originals)
    records = {
        kind: read_record(files, f"{RUN}{path}", kind)
        for kind, path in record_paths(REGISTRY).items()
        if path not in altered and bare.find_file(path)
    }
    loaded = LoadedRun(run=before_report(recorded, REGISTRY), registry=REGISTRY, records=records)
    # Evidence of claims and cases is only known once their records are read.
    altered = _find_altered(loaded, originals)
    path = patch_paths(REGISTRY)[0]
    patch = "" if path in altered or not bare.find_file(path) else files[f"{RUN}{path}"].decode("utf-8", "replace")
    loaded = replace(loaded, altered=altered, patch=patch[:_PATCH_LIMIT])
    run = run_verdict.as_left(recorded, run_verdict.judge_run(loaded))
    return ReplayedRun(loaded=replace(loaded, run=run), plan=read_record(files, PLAN, Plan), recorded=recorded)


def _find_altered(run: LoadedRun, originals: Mapping[str, str | None]) -> frozenset[str]:
    """Return the evidence whose file was not as recorded when the bundle was made."""
    return frozenset(item.path for item in run.evidence if originals.get(item.path) != item.sha256)


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
        first = error.errors()[0]
        raise InvalidBundleError(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
