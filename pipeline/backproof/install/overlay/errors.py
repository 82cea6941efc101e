"""The errors of an overlay, each with its next step."""

from __future__ import annotations

import errno
from contextlib import contextmanager
from typing import TYPE_CHECKING

from backproof.core.errors import BusyError, HostError, NeedsReview
from backproof.core.plural import format_count
from backproof.install.overlay.journal import FOLDER, Journal, format_undo_command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from backproof.install.overlay.steps import Drift

_NEXT = {
    errno.ENOSPC: "free some space, then run again",
    errno.EDQUOT: "free some of your quota, then run again",
    errno.EROFS: "remount it writable, or copy the environment to a writable place",
    errno.EACCES: "run as the user who owns that environment",
    errno.EPERM: "run as the user who owns that environment",
}


@contextmanager
def translate_os_errors(site: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HostError(
            f"{site}: the files could not be changed",
            why=f"{error.strerror or error}: {error.filename or site}",
            next_step=_NEXT.get(error.errno or 0, "fix that, then run the same command again"),
        ) from error


def build_taken_error(site: Path, journal: Journal | None) -> BusyError:
    owner = f"the run {journal.owner} (process {journal.pid})" if journal else "a live process"
    return BusyError(
        f"{site}: another run works on this environment",
        why=f"{owner} holds its lock",
        next_step="wait for it to end (--wait SECONDS), or use another environment",
    )


def build_held_error(site: Path, journal: Journal) -> HostError:
    return HostError(
        f"{site}: another run holds an overlay there",
        why=f"the run {journal.owner} left its patch in place on {journal.made}, on purpose",
        next_step=f"{format_undo_command(site)} takes it out",
    )


def build_replaced_error(site: Path, changed: str) -> NeedsReview:
    return NeedsReview(
        f"{site}: the distribution was upgraded or removed while the patch was in place; nothing was touched",
        why=f"{changed} is not the one that the patch was applied to; the former originals are in {site / FOLDER}",
        next_step=f"check the new installation, then {format_undo_command(site, force=True)} forgets the former originals",
    )


def build_drift_error(site: Path, drift: Sequence[Drift]) -> NeedsReview:
    lines = [
        f"{item.path}: {item.reason}; {f'the original is kept as {item.original}' if item.original else 'it was absent before'}"
        for item in drift
    ]
    return NeedsReview(
        f"{site}: {format_count(len(drift), 'file')} changed by someone else while the patch was in place, and left so",
        why="\n       ".join(lines),
        next_step=f"save what you need of them, then {format_undo_command(site, force=True)} puts the originals back",
    )
