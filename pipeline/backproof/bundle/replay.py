"""The story of a run from the files of a bundle alone: no run folder, no kit, no machine of anybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from backproof.bundle.archive import Strange
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

    from backproof.bundle.manifest import Bundled, Manifest

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class Retold:
    """The judged story, the plan, and run.json as the run had left it."""

    story: LoadedRun
    plan: Plan
    said: Run

    @property
    def comment(self) -> str:
        return render.comment(self.story, self.plan, hide=render.as_it_is)


def retold(manifest: Manifest, files: Mapping[str, bytes]) -> Retold:
    """Read and judge again.

    Raises:
        Strange: a record cannot be read.
    """
    said = _record(files, f"{RUN}run.json", Run)
    known = {each.path.removeprefix(RUN): each for each in manifest.files if each.path.startswith(RUN)}
    bare = LoadedRun(run=said, registry=REGISTRY)
    altered = frozenset(each.path for each in bare.evidence if not _holds(known, each.path, each.sha256))
    records = {
        kind: _record(files, f"{RUN}{path}", kind)
        for kind, path in record_paths(REGISTRY).items()
        if path not in altered and bare.file(path)
    }
    told = LoadedRun(run=before_report(said, REGISTRY), registry=REGISTRY, records=records)
    # Evidence of claims and cases is only known once their records are read.
    altered = frozenset(each.path for each in told.evidence if not _holds(known, each.path, each.sha256))
    path = patch_paths(REGISTRY)[0]
    patch = "" if path in altered or not bare.file(path) else files[f"{RUN}{path}"].decode("utf-8", "replace")
    told = replace(told, altered=altered, patch=patch[:200_000])
    run = run_verdict.as_left(said, run_verdict.judged(told))
    return Retold(story=replace(told, run=run), plan=_record(files, PLAN, Plan), said=said)


def _holds(known: Mapping[str, Bundled], path: str, recorded: str) -> bool:
    found = known.get(path)
    return found is not None and found.original_sha256 == recorded


def _record(files: Mapping[str, bytes], name: str, kind: type[R]) -> R:
    try:
        return kind.model_validate_json(files[name], context=DEVICES)
    except KeyError:
        raise Strange(f"it has no {name}") from None
    except ValidationError as error:
        first = error.errors()[0]
        raise Strange(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
