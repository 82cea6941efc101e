"""Puts an arm into the target and takes it out again; what was there before is there afterwards."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.core.errors import HostError, NeedsReview
from backproof.core.model import Arm
from backproof.install import overlay, patch, pip_build
from backproof.install.overlay import Change
from backproof.records.proof import InstallRecord
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.install.patch import Patch
    from backproof.rundir.context import Context


@contextmanager
def install_arm(ctx: Context, arm: Arm) -> Iterator[dict[str, str | None]]:
    """Keep one arm in the target during the block.

    Yields:
        SHA-256 that each installed file of the patch has on this arm (None: absent), by absolute path.

    Raises:
        NeedsReview: the target is not the release's own.
        HostError: another run has the target, the disk refuses, or the target is gone.
    """
    python = Path(ctx.settings.python)
    require_target(python)
    the_patch = patch.read_patch(ctx)
    owner = str(ctx.ledger.folder)
    try:
        with overlay.install_changes(
            the_patch.site, plan_arm_changes(ctx, the_patch, arm), owner=owner, run=ctx.run.id, guards=the_patch.guards
        ):
            yield {str(the_patch.site / file.installed): file.hash_on(arm) for file in the_patch.files}
    except NeedsReview:
        require_target(python, the_patch.site)
        raise


def require_target(*paths: Path) -> None:
    """Raise HostError where interpreter or site-packages is gone: no drift of files, and no failure of the backport."""
    gone = [str(path) for path in paths if not path.exists()]
    if gone:
        raise HostError(
            f"{', '.join(gone)}: the target is gone",
            why="it was there when the run began, and was removed or moved since",
            next_step="make the environment again, and run again",
        )


def plan_arm_changes(ctx: Context, the_patch: Patch, arm: Arm) -> tuple[Change, ...]:
    """Return the differences of site-packages between the release and an arm."""
    if ctx.plan.install.mode == "overlay" or arm is Arm.BASE:
        return tuple(
            Change(path=file.installed, before=file.hash_on(Arm.BASE), new=file.content[arm])
            for file in the_patch.files
        )
    return _compare_build(the_patch, _build_tree(ctx, the_patch, arm))


def _build_tree(ctx: Context, the_patch: Patch, arm: Arm) -> Path:
    """Return the folder of an arm as pip builds it; it is built once per tree."""
    tree = the_patch.trees[arm]
    folder = ctx.ledger.stage_folder(ctx.registry.name_of(InstallRecord)) / "built"
    into = folder / tree
    if not into.exists():
        folder.mkdir(exist_ok=True)
        ctx.say(f"    building the arm {arm} with the target's pip")
        source = folder / f"{tree}.tree"
        ctx.store.export_tree(tree, source)
        log = folder / f"{arm}.log"
        pip_build.build_tree(Path(ctx.settings.python), source, into, env=ctx.plan.install.env, log=log)
    return into


def _compare_build(the_patch: Patch, built: Path) -> tuple[Change, ...]:
    """Return every file that the build changes; an old file must be as its own RECORD has it."""
    new, old = pip_build.list_built_files(built), the_patch.installed.files
    changes: list[Change] = []
    for path in sorted(set(old) | set(new)):
        before = (old[path] or _hash_file(overlay.find_original(the_patch.site, path))) if path in old else None
        if before != (sha256_of(new[path]) if path in new else None):
            changes.append(Change(path=path, before=before, new=new[path].read_bytes() if path in new else None))
    return tuple(changes)


def _hash_file(path: Path) -> str | None:
    """Return the hash of a file that RECORD has none of: its own."""
    return sha256_of(path) if path.is_file() else None
