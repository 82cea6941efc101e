"""The boundary to a target's site-packages: files changed all or none, journaled first, undone also after a kill.

`OverlaySession` owns one site: `apply` changes files, `revert` undoes that, `hold` leaves it on purpose. `install_changes`,
`undo_overlay`, `recover_site` and `recover_all_sites` are what callers need of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.errors import BackproofError
from backproof.install.overlay import journal as written
from backproof.install.overlay import lock, registry
from backproof.install.overlay.errors import build_taken_error
from backproof.install.overlay.journal import FOLDER, Change, find_original, format_undo_command
from backproof.install.overlay.session import OPEN, OverlaySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from backproof.install.overlay.journal import Journal

__all__ = [
    "Change",
    "OverlaySession",
    "find_original",
    "format_undo_command",
    "has_overlay",
    "install_changes",
    "list_sites_of",
    "recover_all_sites",
    "recover_site",
    "undo_overlay",
]


@contextmanager
def install_changes(
    site: Path, changes: Sequence[Change], *, owner: str, run: str = "", guards: Sequence[str] = ()
) -> Iterator[OverlaySession]:
    """Keep exactly these changes in place during the block, then restore the former state.

    Raises:
        NeedsReview: files that are not the release's own.
        HostError: another owner has the site.
    """
    site = site.resolve()
    own_session = OPEN.get(site)
    if own_session is not None and own_session.owner != owner:
        raise build_taken_error(site, written.read_journal(site))
    session = own_session or OverlaySession.open(site, owner=owner, run=run)
    try:
        yield from _switch_changes(session, changes, guards)
    finally:
        if own_session is None:
            session.close()


def _switch_changes(
    session: OverlaySession, changes: Sequence[Change], guards: Sequence[str]
) -> Iterator[OverlaySession]:
    (before, guards_before), was_held = session.list_changes(), session.held
    try:
        session.replace(changes, guards=guards)
        yield session
    finally:
        session.replace(before, guards=guards_before)
        if was_held:
            session.hold()


def find_owner(site: Path) -> str | None:
    """Return the owner of the overlay in place; None when there is none."""
    journal = written.read_journal(site.resolve())
    return journal.owner if journal else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Undone:
    """What an undo really did to a site, read from the disk after it.

    `restored` files are as the release installed them, `removed` ones were added by the overlay, and `left` ones are
    neither: another installation has them now.
    """

    site: Path
    restored: tuple[str, ...]
    removed: tuple[str, ...]
    left: tuple[str, ...]


def undo_overlay(site: Path, *, force: bool = False) -> Undone | None:
    """Undo an overlay, also one that is held; return what was done, None when there was none.

    Raises:
        HostError: a live process owns it.
        NeedsReview: files changed by someone else meanwhile; `force` puts the originals over them.
    """
    site = site.resolve()
    with _try_lock(site) as is_locked:
        if not is_locked:
            raise build_taken_error(site, written.read_journal(site))
        journal = written.read_journal(site)
        session = OverlaySession(site, owner="", handle=-1)
        return _describe_undone(site, journal) if session.revert(force=force) and journal else None


def _describe_undone(site: Path, journal: Journal) -> Undone:
    now = {entry: written.hash_file(site / entry.path) for entry in journal.files}
    back = {entry for entry, sha256 in now.items() if sha256 == entry.before}
    return Undone(
        site=site,
        restored=tuple(entry.path for entry in journal.files if entry in back and entry.before),
        removed=tuple(entry.path for entry in journal.files if entry in back and not entry.before),
        left=tuple(entry.path for entry in journal.files if entry not in back),
    )


def has_overlay(site: Path) -> bool:
    """Return whether an overlay of anybody lies in a folder: its journal is there."""
    return (site / FOLDER).is_dir()


def list_sites_of(folder: Path, run: str, places: Iterable[Path]) -> list[Path]:
    """Return the sites that hold an overlay of a run, by what each says itself.

    Args:
        folder: the run folder; it may have been another when the overlay was made.
        run: the id of the run.
        places: where to look besides the sites that are noted on this machine.
    """
    sites = {place.resolve(): None for place in (*registry.list_sites(), *places) if has_overlay(place)}
    journals = {site: written.read_journal(site) for site in sites}
    return [
        site for site, journal in journals.items() if journal and (journal.run == run or journal.owner == str(folder))
    ]


def recover_site(site: Path) -> bool:
    """Undo what a dead owner left, unless it is held; return whether something was undone."""
    site = site.resolve()
    with _try_lock(site) as is_locked:
        journal = written.read_journal(site) if is_locked else None
        is_held = journal is not None and journal.held
        return is_locked and not is_held and OverlaySession(site, owner="", handle=-1).revert()


def recover_all_sites(say: Callable[[str], None]) -> tuple[Path, ...]:
    """Undo every overlay of this user whose owner is dead; one that cannot be undone is reported and stays noted."""
    undone: list[Path] = []
    for site in registry.list_sites():
        if not site.is_dir():
            registry.unregister_site(site)
            continue
        try:
            if recover_site(site):
                undone.append(site)
                say(f"{site}: restored what a killed run had changed")
        except (BackproofError, OSError) as error:
            say(str(error))
    return tuple(undone)


@contextmanager
def _try_lock(site: Path) -> Iterator[bool]:
    """Own the site during the block; False where a live process does."""
    handle = None if site in OPEN else lock.acquire_lock(site)
    try:
        yield handle is not None
    finally:
        if handle is not None:
            lock.release_lock(handle)
