"""Removes the overlay's own folder, and never an original that is still needed."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from backproof.core.errors import NeedsReview
from backproof.install.overlay.journal import FOLDER, JOURNAL_FILE, ORIGINALS

if TYPE_CHECKING:
    from pathlib import Path


def remove_folder(site: Path) -> None:
    """Remove the folder of a reverted overlay; the journal goes last but one, the folder last.

    Raises:
        NeedsReview: originals are left in it that no journal explains.
    """
    folder = site / FOLDER
    if not folder.is_dir():
        return
    if left := [path for path in (folder / ORIGINALS).rglob("*") if not path.is_dir()]:
        raise NeedsReview(
            f"{folder / ORIGINALS}: {len(left)} kept originals without a journal",
            why=f"the first is {left[0].relative_to(folder / ORIGINALS)}",
            next_step=f"compare them with {site}, put back what is needed, then remove {folder}",
        )
    force_remove_folder(site)


def force_remove_folder(site: Path) -> None:
    """Remove the folder, whatever is in it."""
    folder = site / FOLDER
    # The journal last: after a kill in between it has nothing left to undo.
    for path in sorted(folder.iterdir(), key=lambda path: path.name == JOURNAL_FILE):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    with suppress(FileNotFoundError):
        folder.rmdir()
