"""The files of the patch: their content on base, pick and fixed, and their places in the target."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.core.model import Arm
from backproof.install import distribution, editable
from backproof.install.interpreter import ProbeFacts
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.git import Store
    from backproof.rundir.context import Context


@dataclass(frozen=True, kw_only=True, slots=True)
class PatchFile:
    """One installed file of the patch: its path in the repository, under site-packages, and its bytes on each arm."""

    path: str
    installed: str
    content: Mapping[Arm, bytes | None]

    def hash_on(self, arm: Arm) -> str | None:
        content = self.content[arm]
        return None if content is None else hashlib.sha256(content).hexdigest()

    @property
    def module(self) -> str:
        """The name for an import; empty for a file that is no module."""
        pure = PurePosixPath(self.installed)
        parts = pure.parent.parts if pure.name == "__init__.py" else pure.with_suffix("").parts
        return ".".join(parts) if pure.suffix == ".py" and all(part.isidentifier() for part in parts) else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """All files of the patch: those that the distribution installs, and the paths that it does not."""

    site: Path
    facts: ProbeFacts
    installed: distribution.InstalledDistribution
    trees: Mapping[Arm, str]
    files: tuple[PatchFile, ...]
    outside: tuple[str, ...]

    @property
    def guards(self) -> tuple[str, ...]:
        return distribution.list_guard_files(self.facts.distributions, self.site)


def read_patch(ctx: Context, facts: ProbeFacts | None = None) -> Patch:
    """Return the patch of a run, from its records and its store.

    Args:
        ctx: the run.
        facts: of the target; those of the install stage when None.

    Raises:
        PlanError: a stage that it needs has not run.
    """
    picked = ctx.require_record(PickRecord)
    fixed = ctx.require_record(FixupRecord)
    is_fresh = facts is not None
    facts = facts or ctx.require_record(ProbeFacts, beside=InstallRecord, file="distribution.json")
    blobs = _collect_blobs(picked, fixed)
    places = {path: _site_path(ctx.plan.install.root, path) for path in blobs}
    installed = (
        editable.open_copy(ctx, facts.distributions[0], tuple(filter(None, places.values())), fresh=is_fresh)
        if facts.distributions[0].editable
        else distribution.read_distribution(facts.distributions[0])
    )
    inside = {
        path: place
        for path, place in places.items()
        if place and installed.contains(place, is_new=blobs[path][Arm.BASE] is None)
    }
    store = ctx.store
    return Patch(
        site=installed.site,
        facts=facts,
        installed=installed,
        trees={Arm.BASE: picked.base_tree, Arm.PICK: picked.head_tree, Arm.FIXED: fixed.head_tree},
        files=tuple(_read_file(store, path, place, blobs[path]) for path, place in sorted(inside.items())),
        outside=tuple(sorted(set(blobs) - set(inside))),
    )


def _collect_blobs(picked: PickRecord, fixed: FixupRecord) -> dict[str, dict[Arm, str | None]]:
    """Return the blob of each path on each arm; a path that an arm does not change is as on base."""
    base = {change.path: change.before for change in (*picked.changes, *fixed.changes)}
    arms = {Arm.BASE: {}, Arm.PICK: {change.path: change.after for change in picked.changes}} | {
        Arm.FIXED: {change.path: change.after for change in fixed.changes}
    }
    return {path: {arm: changed.get(path, before) for arm, changed in arms.items()} for path, before in base.items()}


def _site_path(root: str, path: str) -> str:
    """Return the path under site-packages; empty for one outside the installed folder."""
    pure, top = PurePosixPath(path), PurePosixPath(root or ".")
    return pure.relative_to(top).as_posix() if pure.is_relative_to(top) else ""


def _read_file(store: Store, path: str, place: str, blobs: Mapping[Arm, str | None]) -> PatchFile:
    content = {arm: None if blob is None else store.objects.read_object(blob, "blob") for arm, blob in blobs.items()}
    return PatchFile(path=path, installed=place, content=content)


def require_distribution(ctx: Context, facts: ProbeFacts) -> None:
    """Check that the distribution is installed.

    Raises:
        PlanError: it is not; nothing was changed.
    """
    name, python = ctx.plan.install.distribution, ctx.settings.python
    if not facts.distributions:
        raise PlanError(
            f"{python}: the distribution {name} is not installed there",
            why=f"no installation record of it is on the path of Python {facts.interpreter.version}",
            next_step=f"name the interpreter of the target with --python, or install the affected release of {name} there",
        )
