"""The boundary to a target's site-packages: files changed all or none, journaled first, undone also after a kill.

`OverlaySession` owns one site: `apply` changes files, `revert` undoes that, `hold` leaves it on purpose. `installed`,
`undo`, `recover` and `recover_all` are what callers need of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from backproof.core.errors import BackproofError
from backproof.install.overlay import journal as written
from backproof.install.overlay import lock, registry
from backproof.install.overlay.errors import build_taken_error
from backproof.install.overlay.journal import Change, find_original, format_undo_command
from backproof.install.overlay.session import OPEN, OverlaySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Change",
    "OverlaySession",
    "find_original",
    "format_undo_command",
    "install_changes",
    "recover_all_sites",
    "recover_site",
    "undo_overlay",
    "undo_overlays_of",
]


@contextmanager
def install_changes(
    site: Path, changes: Sequence[Change], *, owner: str, guards: Sequence[str] = ()
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
    session = own_session or OverlaySession.open(site, owner=owner)
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


def undo_overlay(site: Path, *, force: bool = False) -> bool:
    """Undo an overlay, also one that is held; return whether there was one.

    Raises:
        HostError: a live process owns it.
        NeedsReview: files changed by someone else meanwhile; `force` puts the originals over them.
    """
    site = site.resolve()
    with _try_lock(site) as is_locked:
        if not is_locked:
            raise build_taken_error(site, written.read_journal(site))
        return OverlaySession(site, owner="", handle=-1).revert(force=force)


def undo_overlays_of(owner: str, *, force: bool = False) -> tuple[Path, ...]:
    """Undo what this owner (a run folder, which may be gone) left in place; return the sites changed."""
    sites = (site for site in registry.list_sites() if find_owner(site) == owner)
    return tuple(site for site in sites if undo_overlay(site, force=force))


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
