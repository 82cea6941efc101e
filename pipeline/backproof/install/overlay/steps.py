"""The steps of an overlay and of its undo, one effect on the file system each.

Generators, so that a test can stop a real process after any of them. Whatever the step, what the journal lists and
what lies on disk are enough to restore everything: a file with a kept original may have been changed, one without
was not. Reverting is idempotent for the same reason.
"""

from __future__ import annotations

import csv
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.install.overlay.check import list_compiled
from backproof.install.overlay.journal import (
    FOLDER,
    NOT_A_FILE,
    ORIGINALS,
    STAGED,
    Journal,
    JournalEntry,
    MovedCache,
    hash_file,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Drift:
    """A file that was changed by someone else while the overlay was in place; it is left as it is."""

    path: str
    reason: str
    original: Path | None


def apply_changes(site: Path, journal: Journal, contents: Mapping[str, bytes | None]) -> Iterator[str]:
    """Change the files. Steps that need disk space come first: a full disk stops it before the first change."""
    for entry in journal.files:
        content = contents[entry.path]
        if content is not None:
            _stage_file(site, entry, content)
            yield f"staged {entry.path}"
    for entry in journal.files:
        if entry.before is not None:
            _keep_original(site, entry.path)
            yield f"kept {entry.path}"
    for folder in journal.new_folders:
        if Path(folder).name != "__pycache__":
            (site / folder).mkdir()
            yield f"made {folder}"
    for entry in journal.files:
        _change_file(site, entry)
        yield f"changed {entry.path}"
    for cached in journal.caches:
        _move_file(site / cached.path, _kept_path(site, cached.path))
        yield f"moved {cached.path}"


def revert_changes(site: Path, journal: Journal, *, force: bool) -> Generator[str, None, list[Drift]]:
    """Restore everything; return the files that someone else changed meanwhile: they stay."""
    drift: list[Drift] = []
    for entry in journal.files:
        changed = _restore_file(site, entry, force=force)
        yield f"restored {entry.path}"
        if changed:
            drift.append(changed)
        else:
            _drop_compiled(site, entry.path, journal.caches)
            yield f"dropped what was compiled of {entry.path}"
    drifted = {item.path for item in drift}
    for cached in journal.caches:
        if _find_source(cached.path) not in drifted and (original := _kept_path(site, cached.path)).exists():
            _move_file(original, site / cached.path)
            yield f"moved back {cached.path}"
    yield from _remove_folders(site, journal)
    return drift


def forget_changes(site: Path, journal: Journal) -> Iterator[str]:
    """Take out what the overlay added to a distribution that was installed anew since; all else is the new one's."""
    for entry in journal.files:
        path = site / entry.path
        if entry.before is None and hash_file(path) == entry.after and not _is_recorded(site, entry.path):
            path.unlink()
            _drop_compiled(site, entry.path, ())
            yield f"removed {entry.path}"
    yield from _remove_folders(site, journal)


def _is_recorded(site: Path, path: str) -> bool:
    """Return whether a distribution lists this file as its own."""
    records = (record.read_text(encoding="utf-8", errors="replace") for record in site.glob("*.dist-info/RECORD"))
    return any(row[:1] == [path] for record in records for row in csv.reader(record.splitlines()))


def _remove_folders(site: Path, journal: Journal) -> Iterator[str]:
    for folder in reversed(journal.new_folders):
        with suppress(OSError):  # not empty: someone else's file is in it
            (site / folder).rmdir()
        yield f"removed {folder}"


def find_changed_guard(site: Path, journal: Journal) -> str:
    """Return the file of the distribution's record that shows another installation; empty when none does."""
    return next((guard.path for guard in journal.guards if hash_file(site / guard.path) not in guard.either), "")


def _stage_file(site: Path, entry: JournalEntry, content: bytes) -> None:
    staged = site / FOLDER / STAGED / entry.path
    staged.parent.mkdir(parents=True, exist_ok=True)
    with staged.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    _copy_owner_and_mode(staged, site / entry.path)


def _copy_owner_and_mode(staged: Path, path: Path) -> None:
    """Give it mode and owner of the file that it replaces (for a new file: the owner of the nearest folder)."""
    model = path if path.exists() else next(folder for folder in path.parents if folder.exists())
    facts = model.stat()
    staged.chmod(facts.st_mode & 0o7777 if model == path else 0o644)
    with suppress(PermissionError):
        os.chown(staged, facts.st_uid, facts.st_gid)
    # A timestamp .pyc is valid by whole seconds and size (PEP 552): within one second it would outlive its source.
    if model == path and int(facts.st_mtime) == int(staged.stat().st_mtime):
        os.utime(staged, (facts.st_mtime + 1, facts.st_mtime + 1))


def _keep_original(site: Path, path: str) -> None:
    original = _kept_path(site, path)
    original.parent.mkdir(parents=True, exist_ok=True)
    try:
        original.hardlink_to(site / path)
    except PermissionError:
        # fs.protected_hardlinks forbids a link to a file of another user; a rename needs only the folder.
        _move_file(site / path, original)


def _change_file(site: Path, entry: JournalEntry) -> None:
    path, staged = site / entry.path, site / FOLDER / STAGED / entry.path
    if entry.after is None:
        path.unlink(missing_ok=True)
    elif entry.before is None:
        # A link never overwrites: a file that appeared since the check stays.
        path.hardlink_to(staged)
        staged.unlink()
    else:
        # Never in place: installers such as uv hard-link site-packages from a cache shared by all environments.
        staged.replace(path)


def _restore_file(site: Path, entry: JournalEntry, *, force: bool) -> Drift | None:
    path, original = site / entry.path, _kept_path(site, entry.path)
    actual = hash_file(path)
    is_forced = force and not path.is_dir()
    if not original.exists():
        if entry.before is not None or actual is None:
            return None  # not changed yet, or restored already
        if actual != entry.after and not is_forced:
            return Drift(path=entry.path, reason=_describe_state(actual, path), original=None)
        path.unlink()
    elif actual not in (None, NOT_A_FILE) and path.samefile(original):
        original.unlink()  # not changed yet; rename(2) of two names of one file would do nothing
    elif actual == entry.before:
        original.unlink()  # someone put the release's own file back
    elif path.parent.is_dir() and (actual in (None, entry.after) or is_forced):
        original.replace(path)
    else:
        return Drift(path=entry.path, reason=_describe_state(actual, path), original=original)
    return None


def _describe_state(actual: str | None, path: Path) -> str:
    if not path.parent.is_dir():
        return "its folder is gone"
    return "it is no regular file now" if actual == NOT_A_FILE else f"it has SHA-256 {str(actual)[:12]} now"


def _drop_compiled(site: Path, source: str, caches: tuple[MovedCache, ...]) -> None:
    """Remove files compiled from the patched source; one that is restored already is recognised by its time."""
    moved = {cached.path: cached for cached in caches}
    for path in list_compiled(site, source):
        cached = moved.get(path.relative_to(site).as_posix())
        is_restored = cached and path.stat().st_mtime_ns == cached.mtime_ns and hash_file(path) == cached.sha256
        if not is_restored:
            path.unlink(missing_ok=True)


def _find_source(cached: str) -> str:
    path = Path(cached)
    folder = path.parent.parent if path.parent.name == "__pycache__" else path.parent
    return (folder / f"{path.name.partition('.')[0]}.py").as_posix()


def _kept_path(site: Path, path: str) -> Path:
    return site / FOLDER / ORIGINALS / path


def _move_file(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    source.replace(to)
