"""One site-packages, owned by one run: changed all or none, put back, or left on purpose."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from backproof.install.overlay import check, clean, lock, registry, steps
from backproof.install.overlay import journal as written
from backproof.install.overlay.errors import (
    build_drift_error,
    build_held_error,
    build_replaced_error,
    build_taken_error,
    translate_os_errors,
)
from backproof.install.overlay.journal import Change, Journal, JournalEntry

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

OPEN: dict[Path, OverlaySession] = {}
"""The sites that this process owns: flock(2) refuses a second descriptor of the same process, too."""


class OverlaySession:
    """One site-packages, locked by this process for one owner (a run folder)."""

    def __init__(self, site: Path, *, owner: str, run: str = "", handle: int) -> None:
        self.site = site
        self.owner = owner
        self.run = run
        self.warning = ""
        self._handle = handle
        self.held = False

    @classmethod
    def open(cls, site: Path, *, owner: str, run: str = "") -> OverlaySession:
        """Own a site for a run folder and its run's id; leftovers of a dead owner are undone first, an overlay that this owner holds stays.

        Raises:
            HostError: a live process owns it, or another run holds an overlay there.
        """
        site = site.resolve()
        handle = None if site in OPEN else lock.acquire_lock(site)
        if handle is None:
            raise build_taken_error(site, written.read_journal(site))
        session = cls(site, owner=owner, run=run, handle=handle)
        try:
            session._settle_site()
        except BaseException:
            lock.release_lock(handle)
            raise
        OPEN[site] = session
        return session

    def replace(self, changes: Sequence[Change], *, guards: Sequence[str] = ()) -> None:
        """Have these changes in place and no others; raises as `apply`."""
        self.revert()
        self.held = False
        self.apply(changes, guards=guards)

    def apply(self, changes: Sequence[Change], *, guards: Sequence[str] = ()) -> None:
        """Change all the files or none; guards are files whose later change shows another installation.

        Raises:
            NeedsReview: files that are not the release's own; nothing was changed.
            HostError: the disk is full, the folder is not writable; everything was restored.
        """
        for _ in self.apply_steps(changes, guards=guards):
            pass

    def apply_steps(self, changes: Sequence[Change], *, guards: Sequence[str] = ()) -> Generator[str, None, None]:
        """Yield the steps of `apply`; a failure or an end in between restores everything."""
        with translate_os_errors(self.site):
            journal = check.plan_changes(self.site, changes, owner=self.owner, run=self.run, guards=guards)
        if not journal.files:
            return
        self.warning = registry.register_site(self.site)
        yield "noted"
        try:
            with translate_os_errors(self.site):
                (self.site / written.FOLDER).mkdir(exist_ok=True)
                yield "made the folder"
                written.write_journal(self.site, journal)
                yield "wrote the journal"
                yield from steps.apply_changes(self.site, journal, {change.path: change.new for change in changes})
        except BaseException:
            self.revert()
            raise

    def revert(self, *, force: bool = False) -> bool:
        """Restore everything; return whether there was anything.

        Raises:
            NeedsReview: someone else changed files meanwhile: they stay, the originals are kept.
        """
        return sum(1 for _ in self.revert_steps(force=force)) > 0

    def revert_steps(self, *, force: bool = False) -> Iterator[str]:
        """Yield the steps of `revert`; it can stop after any of them and begin again."""
        journal = written.read_journal(self.site)
        with translate_os_errors(self.site):
            if journal is not None:
                yield from self._revert_journal(journal, force=force)
            clean.remove_folder(self.site)
        registry.unregister_site(self.site)
        if journal is not None:
            yield "removed the folder"

    def list_changes(self) -> tuple[tuple[Change, ...], tuple[str, ...]]:
        """Return the changes in place and their guards, such that they can be applied again."""
        journal = written.read_journal(self.site)
        if journal is None:
            return (), ()
        with translate_os_errors(self.site):
            changes = tuple(_rebuild_change(self.site, entry) for entry in journal.files)
        return changes, tuple(guard.path for guard in journal.guards)

    def hold(self) -> None:
        """Leave the overlay in place when this session is closed, until someone undoes it."""
        journal = written.read_journal(self.site)
        if journal is not None:
            with translate_os_errors(self.site):
                written.write_journal(self.site, journal.model_copy(update={"held": True}))
        self.held = True

    def close(self) -> None:
        """Release the site: as it was, or with the overlay that is held."""
        try:
            if not self.held:
                self.revert()
        finally:
            OPEN.pop(self.site, None)
            lock.release_lock(self._handle)

    def _settle_site(self) -> None:
        journal = written.read_journal(self.site)
        if journal is None or not journal.held:
            self.revert()
        elif journal.owner != self.owner:
            raise build_held_error(self.site, journal)
        else:
            self.held = True

    def _revert_journal(self, journal: Journal, *, force: bool) -> Iterator[str]:
        if changed := steps.find_changed_guard(self.site, journal):
            if not force:
                raise build_replaced_error(self.site, changed)
            yield from steps.forget_changes(self.site, journal)
            clean.force_remove_folder(self.site)
            return
        if drift := (yield from steps.revert_changes(self.site, journal, force=force)):
            drifted = {item.path for item in drift}
            files = tuple(entry for entry in journal.files if entry.path in drifted)
            remaining = journal.model_copy(update={"files": files})
            with suppress(OSError):  # a full disk: the old journal serves as well, the undo is idempotent
                written.write_journal(self.site, remaining)
            raise build_drift_error(self.site, drift)


def _rebuild_change(site: Path, entry: JournalEntry) -> Change:
    new = None if entry.after is None else (site / entry.path).read_bytes()
    return Change(path=entry.path, before=entry.before, new=new)
