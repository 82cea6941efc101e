"""The door to a target's site-packages: files changed all or none, journaled first, undone also after a kill.

`Session` owns one site: `put` changes files, `take_out` undoes it, `hold` leaves it on purpose. `installed`,
`undo`, `recover` and `recover_all` are what callers need of it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from backproof.core.errors import BackproofError
from backproof.install.overlay import journal as written
from backproof.install.overlay import lock, registry
from backproof.install.overlay.errors import taken
from backproof.install.overlay.journal import Change, original, undo_command
from backproof.install.overlay.session import OPEN, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Change",
    "Session",
    "installed",
    "original",
    "recover",
    "recover_all",
    "undo",
    "undo_all_of",
    "undo_command",
]


@contextmanager
def installed(site: Path, changes: Sequence[Change], *, owner: str, guards: Sequence[str] = ()) -> Iterator[Session]:
    """Have exactly these changes in place, then again what was there before: nothing, or what this owner holds.

    Raises:
        NeedsReview: files that are not the release's own.
        HostError: another owner has the site.
    """
    site = site.resolve()
    ours = OPEN.get(site)
    if ours is not None and ours.owner != owner:
        raise taken(site, written.read(site))
    session = ours or Session.open(site, owner=owner)
    try:
        yield from _switched(session, changes, guards)
    finally:
        if ours is None:
            session.close()


def _switched(session: Session, changes: Sequence[Change], guards: Sequence[str]) -> Iterator[Session]:
    before, guards_before, held = session.changes(), session.guards(), session.held
    session.take_out()
    session.held = False
    try:
        session.put(changes, guards=guards)
        yield session
    finally:
        session.take_out()
        session.put(before, guards=guards_before)
        if held:
            session.hold()


def owner_of(site: Path) -> str | None:
    """Whose overlay is in place there; None when there is none."""
    journal = written.read(site.resolve())
    return journal.owner if journal else None


def undo(site: Path, *, force: bool = False) -> bool:
    """Undo an overlay, also one that is held; False when there is none.

    Raises:
        HostError: a live process owns it.
        NeedsReview: files changed by someone else meanwhile; `force` puts the originals over them.
    """
    site = site.resolve()
    with _locked(site):
        return Session(site, owner="", handle=-1).take_out(force=force)


def undo_all_of(owner: str, *, force: bool = False) -> tuple[Path, ...]:
    """Undo what this owner (a run folder, which may be gone) left in place; the sites where something was undone."""
    return tuple(site for site in registry.sites(owner=owner) if undo(site, force=force))


def recover(site: Path) -> bool:
    """Undo what a dead owner left; what is held, or has a live owner, stays. True when something was undone."""
    site = site.resolve()
    if site in OPEN or (handle := lock.acquire(site)) is None:
        return False
    try:
        journal = written.read(site)
        if journal is not None and journal.held:
            return False
        return Session(site, owner="", handle=-1).take_out()
    finally:
        lock.release(handle)


def recover_all(say: Callable[[str], None]) -> tuple[Path, ...]:
    """Undo every overlay of this user whose owner is dead; what cannot be undone is said, and stays noted."""
    undone: list[Path] = []
    for site in registry.sites():
        if not site.is_dir():
            registry.drop(site)
            continue
        try:
            if recover(site):
                undone.append(site)
                say(f"{site}: put back what a run left there when it was killed")
        except (BackproofError, OSError) as error:
            say(str(error))
    return tuple(undone)


@contextmanager
def _locked(site: Path) -> Iterator[None]:
    handle = None if site in OPEN else lock.acquire(site)
    if handle is None:
        raise taken(site, written.read(site))
    try:
        yield
    finally:
        lock.release(handle)
