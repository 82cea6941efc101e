"""Checks before an overlay: each installed file must be the release's own. Nothing is changed here."""

from __future__ import annotations

import os
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backproof.core.errors import NeedsReview
from backproof.core.plural import format_count, is_or_are
from backproof.install.overlay import journal as written
from backproof.install.overlay.journal import FOLDER, NOT_A_FILE, Change, GuardFile, Journal, JournalEntry, MovedCache
from backproof.rundir.ledger import now, sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def plan_changes(site: Path, changes: Sequence[Change], *, owner: str, run: str, guards: Sequence[str]) -> Journal:
    """Return the journal of these changes. A change that changes nothing is checked and left out.

    Raises:
        NeedsReview: files that are not the release's own, each with its state.
    """
    if drift := [f"{change.path}: {reason}" for change in changes if (reason := _explain_refusal(site, change))]:
        raise NeedsReview(
            f"{site}: {len(drift)} of {format_count(len(changes), 'file')} {is_or_are(len(drift))} not the release's own; nothing was changed",
            why="\n       ".join(drift),
            next_step="reinstall the release into that interpreter, or name the release that is installed there",
        )
    real = [change for change in changes if change.before != change.after]
    after = {change.path: change.after for change in real}
    return Journal(
        owner=owner,
        run=run,
        pid=os.getpid(),
        made=now(),
        files=tuple(JournalEntry(path=change.path, before=change.before, after=change.after) for change in real),
        caches=tuple(_describe_cache(site, path) for change in real for path in list_compiled(site, change.path)),
        new_folders=tuple(_list_new_folders(site, real)),
        guards=tuple(_build_guard(site, guard, after) for guard in guards),
    )


def list_compiled(site: Path, source: str) -> list[Path]:
    """Return all compiled files of one source: every interpreter and optimisation, and the legacy place beside it."""
    path = site / source
    if path.suffix != ".py":
        return []
    # PEP 3147: <name>.<tag>[.opt-<n>].pyc; a name never holds a dot.
    compiled = sorted(path.parent.glob(f"__pycache__/{path.stem}.*.pyc"))
    legacy = path.with_suffix(".pyc")
    return [*compiled, legacy] if legacy.exists() else compiled


def _explain_refusal(site: Path, change: Change) -> str:
    pure = PurePosixPath(change.path)
    if pure.is_absolute() or ".." in pure.parts or pure.parts[:1] == (FOLDER,) or not pure.parts:
        return "not a path inside site-packages"
    if link := next(filter(Path.is_symlink, accumulate(pure.parts, Path.__truediv__, initial=site)), None):
        return f"{link.relative_to(site)} is a symbolic link: what it points at is shared with others"
    return _explain_difference(written.hash_file(site / pure), change)


def _explain_difference(actual: str | None, change: Change) -> str:
    if actual == change.before:
        return ""
    if actual == NOT_A_FILE:
        return "is not a regular file"
    if actual is None:
        return "is missing; the release installs it"
    if actual == change.after:
        return "holds the patched content already"
    return f"SHA-256 {actual[:12]}, the release has {change.before[:12]}" if change.before else "is not of the release"


def _describe_cache(site: Path, path: Path) -> MovedCache:
    return MovedCache(path=path.relative_to(site).as_posix(), sha256=sha256_of(path), mtime_ns=path.stat().st_mtime_ns)


def _list_new_folders(site: Path, changes: Sequence[Change]) -> list[str]:
    """Return the folders that are absent now and would stay behind: of new files, and of files compiled meanwhile."""
    parents = {parent for change in changes for parent in PurePosixPath(change.path).parents if str(parent) != "."}
    caches = {PurePosixPath(change.path).parent / "__pycache__" for change in changes if change.path.endswith(".py")}
    absent = [folder for folder in parents | caches if not (site / folder).exists()]
    return [str(folder) for folder in sorted(absent, key=lambda folder: len(folder.parts))]


def _build_guard(site: Path, path: str, after: dict[str, str | None]) -> GuardFile:
    sha256 = written.hash_file(site / path)
    return GuardFile(path=path, either=(sha256, after[path]) if path in after else (sha256,))
