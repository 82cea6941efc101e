"""The journal that an overlay writes before it changes anything, beside the files that it protects.

The folder lies in site-packages itself: on the same file system (so that a backup can be a hard link and the undo a
rename), and where any later command, of any user, finds it. The run folder may be gone by then.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, ValidationError

from backproof.core.errors import NeedsReview
from backproof.core.model import Record, Sha256
from backproof.rundir.ledger import sha256_of, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ".backproof-overlay"
JOURNAL_FILE = "journal.json"
ORIGINALS = "originals"
STAGED = "staged"
NOT_A_FILE = "not a regular file"


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One file to change: its path under site-packages, its SHA-256 before, its new bytes (None: absent)."""

    path: str
    before: str | None
    new: bytes | None

    @property
    def after(self) -> str | None:
        return None if self.new is None else hashlib.sha256(self.new).hexdigest()


def _require_inside(path: str) -> str:
    """Refuse a path that leads out: the journal lies in the target, and what that writes is not to be trusted."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise ValueError("a path leads out of the site")
    return path


_Inside = Annotated[str, AfterValidator(_require_inside)]


class JournalEntry(Record):
    """One file that the overlay changes."""

    path: _Inside
    before: Sha256 | None
    after: Sha256 | None


class MovedCache(Record):
    """One compiled file that is moved away while its source is another."""

    path: _Inside
    sha256: Sha256
    mtime_ns: int


class GuardFile(Record):
    """A file of the distribution's own record: with another hash than these, another installation took place."""

    path: _Inside
    either: tuple[str | None, ...]


class Journal(Record):
    """journal.json: what makes the site its own witness. `owner` is a run folder, which may have moved; `run` is its id."""

    schema_version: Literal[1] = 1
    owner: str
    run: str = ""
    pid: int
    made: str
    held: bool = False
    files: tuple[JournalEntry, ...]
    caches: tuple[MovedCache, ...] = ()
    new_folders: tuple[_Inside, ...] = ()
    guards: tuple[GuardFile, ...] = ()


def format_undo_command(site: Path, *, force: bool = False) -> str:
    """Return the command that undoes what lies in a site, wherever the run folder is by then."""
    return f"`backproof run {shlex.quote(str(site))} --undo{' --force' if force else ''}`"


def hash_file(path: Path) -> str | None:
    """Return the SHA-256 of a regular file; None when there is none; NOT_A_FILE for a link, a folder, a device."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    return sha256_of(path) if stat.S_ISREG(mode) else NOT_A_FILE


def find_original(site: Path, path: str) -> Path:
    """Return the path of the release's own file, which is kept aside while an overlay is in place."""
    original = site / FOLDER / ORIGINALS / path
    return original if original.exists() else site / path


def read_journal(site: Path) -> Journal | None:
    """Return the journal of a site; None when there is none.

    Raises:
        NeedsReview: there is one that cannot be read; the originals lie beside it under their own names.
    """
    path = site / FOLDER / JOURNAL_FILE
    if path.parent.is_symlink():
        # A linked environment: undoing here would take the originals away from the environment that they belong to.
        raise NeedsReview(
            f"{path.parent}: is a link",
            why=f"the journal of an overlay belongs to the environment {path.parent.resolve().parent}",
            next_step=f"remove the link {path.parent}; the overlay there is undone by its own run",
        )
    try:
        return Journal.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        raise NeedsReview(
            f"{path}: the journal of an overlay cannot be read",
            why=f"it is damaged or from another version: {error.errors()[0]['msg']}",
            next_step=f"copy what lies under {path.parent / ORIGINALS} back over {site} (`cp -a`), then remove "
            f"{path.parent}; or reinstall the distribution",
        ) from error


def write_journal(site: Path, journal: Journal) -> None:
    folder = site / FOLDER
    write_atomic(folder / JOURNAL_FILE, (journal.model_dump_json(indent=1) + "\n").encode())
    sync_folder(folder)


def sync_folder(path: Path) -> None:
    """Make names durable; a file system that cannot sync a folder orders them itself."""
    handle = os.open(path, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
