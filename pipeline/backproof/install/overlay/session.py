"""One site-packages, owned by one run: changed all or none, put back, or left on purpose."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from backproof.install.overlay import check, clean, lock, registry, steps
from backproof.install.overlay import journal as written
from backproof.install.overlay.errors import as_host_error, drifted, held_by, replaced, taken
from backproof.install.overlay.journal import Change, Entry, Journal

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from pathlib import Path

OPEN: dict[Path, Session] = {}
"""The sites that this process owns: flock(2) would refuse the second descriptor of the same process, too."""


class Session:
    """One site-packages, locked by this process for one owner (a run folder)."""

    def __init__(self, site: Path, *, owner: str, handle: int) -> None:
        self.site = site
        self.owner = owner
        self.warning = ""
        self._handle = handle
        self.held = False

    @classmethod
    def open(cls, site: Path, *, owner: str) -> Session:
        """Own a site; what a dead owner left there is undone first, what this owner holds there is kept.

        Raises:
            HostError: a live process owns it, or another run holds an overlay there.
        """
        site = site.resolve()
        handle = None if site in OPEN else lock.acquire(site)
        if handle is None:
            raise taken(site, written.read(site))
        session = cls(site, owner=owner, handle=handle)
        try:
            session._settle()
        except BaseException:
            lock.release(handle)
            raise
        OPEN[site] = session
        return session

    def put(self, changes: Sequence[Change], *, guards: Sequence[str] = ()) -> None:
        """Change all the files or none; guards are files whose later change tells of another installation.

        Raises:
            NeedsReview: files that are not the release's own; nothing was changed.
            HostError: the disk is full, the folder is not writable; everything was put back.
        """
        for _ in self.putting(changes, guards=guards):
            pass

    def putting(self, changes: Sequence[Change], *, guards: Sequence[str] = ()) -> Generator[str, None, None]:
        """The steps of `put`; a failure or an end in between puts everything back."""
        with as_host_error(self.site):
            journal = check.planned(self.site, changes, owner=self.owner, guards=guards)
        if not journal.files:
            return
        self.warning = registry.add(self.site, self.owner)
        yield "noted"
        try:
            with as_host_error(self.site):
                (self.site / written.FOLDER).mkdir(exist_ok=True)
                yield "made the folder"
                written.write(self.site, journal)
                yield "wrote the journal"
                yield from steps.put(self.site, journal, {each.path: each.new for each in changes})
        except BaseException:
            self.take_out()
            raise

    def take_out(self, *, force: bool = False) -> bool:
        """Put everything back; False when there was nothing.

        Raises:
            NeedsReview: someone else changed files meanwhile: they are left, the originals are kept.
        """
        return sum(1 for _ in self.taking_out(force=force)) > 0

    def taking_out(self, *, force: bool = False) -> Iterator[str]:
        """The steps of `take_out`; it can stop after any of them and begin again."""
        journal = written.read(self.site)
        with as_host_error(self.site):
            if journal is not None:
                yield from self._taking_out(journal, force=force)
            clean.remove_folder(self.site)
        registry.drop(self.site)
        if journal is not None:
            yield "removed the folder"

    def changes(self) -> tuple[Change, ...]:
        """What is in place now, as changes that would put it there again."""
        journal = written.read(self.site)
        with as_host_error(self.site):
            return tuple(_again(self.site, each) for each in (journal.files if journal else ()))

    def guards(self) -> tuple[str, ...]:
        journal = written.read(self.site)
        return tuple(each.path for each in journal.guards) if journal else ()

    def hold(self) -> None:
        """Leave the overlay in place when this session is closed, until someone undoes it."""
        journal = written.read(self.site)
        if journal is not None:
            with as_host_error(self.site):
                written.write(self.site, journal.model_copy(update={"held": True}))
        self.held = True

    def close(self) -> None:
        """Give the site back: as it was, or with what is held."""
        try:
            if not self.held:
                self.take_out()
        finally:
            OPEN.pop(self.site, None)
            lock.release(self._handle)

    def _settle(self) -> None:
        journal = written.read(self.site)
        if journal is None or not journal.held:
            self.take_out()
        elif journal.owner != self.owner:
            raise held_by(self.site, journal)
        else:
            self.held = True

    def _taking_out(self, journal: Journal, *, force: bool) -> Iterator[str]:
        if changed := steps.distribution_changed(self.site, journal):
            if not force:
                raise replaced(self.site, journal, changed)
            clean.forget(self.site)
            return
        drift: list[steps.Drift] = []
        yield from steps.take_out(self.site, journal, force=force, drift=drift)
        if drift:
            left = {each.path for each in drift}
            kept = journal.model_copy(update={"files": tuple(each for each in journal.files if each.path in left)})
            with suppress(OSError):  # a full disk: the old journal serves as well, the undo is idempotent
                written.write(self.site, kept)
            raise drifted(self.site, kept, drift)


def _again(site: Path, entry: Entry) -> Change:
    new = None if entry.after is None else (site / entry.path).read_bytes()
    return Change(path=entry.path, before=entry.before, new=new)
