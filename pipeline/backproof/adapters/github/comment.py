"""One comment per kit, branch and device, found by a hidden marker and its author, and never written over a person.

The order is list, compare, write, list again: a lost reply, a second run at the same time and a listing that came late
all end with one comment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github.failure import WRITE_AGAIN, RefusedError, asking
from backproof.adapters.github.marker import fingerprint, read_marker
from backproof.core.errors import NeedsReview

if TYPE_CHECKING:
    from backproof.adapters.github.client import Client
    from backproof.adapters.github.marker import Draft, Found

LONGEST = 65_536
"""GitHub's limit for a comment, in characters."""
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A conversation."""

    repo: str
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Intent:
    """What would be done; `publish` prints this and `--publish` carries it out."""

    action: Literal["create", "update", "keep"]
    why: str
    found: Found | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Posted:
    """What was done."""

    action: Literal["created", "updated", "kept"]
    url: str
    id: int


def marked(client: Client, place: Place, draft: Draft, author: str | None) -> list[Found]:
    """Comments with the draft's marker by this author, oldest first; with no author known, by anybody."""
    what = f"{place}: its comments cannot be listed"
    found = []
    for each in client.pages(what, f"/repos/{place.repo}/issues/{place.number}/comments"):
        with asking(what):
            read = read_marker(each)
        if read and read.key == draft.key and author in {None, read.login}:
            found.append(read)
    return sorted(found, key=lambda each: each.id)


def intend(client: Client, place: Place, draft: Draft, author: str | None) -> Intent:
    """What must be done so that the draft stands there once.

    Raises:
        NeedsReview: a person has edited our comment since.
    """
    found = marked(client, place, draft, author)
    return _intent(place, draft, found)


def _intent(place: Place, draft: Draft, found: list[Found]) -> Intent:
    if not found:
        return Intent(action="create", why=f"{place} has no comment of ours for {', '.join(draft.key)}")
    first = found[0]
    if first.edited:
        raise NeedsReview(
            f"{first.url}: a person has edited this comment since we wrote it",
            why="its text is not the one that its marker names",
            next_step="move their words to a comment of their own and delete ours, then run the same command again",
        )
    if _newer(first.started, draft.started):
        return Intent(
            action="keep", why=f"it shows a run of {first.started}, which is newer than this one", found=first
        )
    if first.fingerprint == fingerprint(draft.text):
        return Intent(action="keep", why="its text is the same", found=first)
    return Intent(action="update", why=f"it shows a run of {first.started}", found=first)


def _newer(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False


def carry_out(client: Client, place: Place, draft: Draft, author: str, *, pause: float = 2) -> Posted:
    """List, write what is missing or changed, list again.

    Raises:
        RefusedError: GitHub refused, or did not answer and nothing of ours stands there.
        NeedsReview: as `intend`.
    """
    intent = intend(client, place, draft, author)
    if intent.found is None:
        return _create(client, place, draft, author, pause)
    if intent.action == "keep":
        return Posted(action="kept", url=intent.found.url, id=intent.found.id)
    _write(client, place, intent.found, draft)
    _settle(client, place, draft, author)
    return Posted(action="updated", url=intent.found.url, id=intent.found.id)


def _create(client: Client, place: Place, draft: Draft, author: str, pause: float) -> Posted:
    """A POST whose reply was lost may have landed: only the list can tell, so it is asked before anything else."""
    lost: RefusedError | None = None
    for attempt in range(_TRIES):
        try:
            client.post(
                f"{place}: the comment cannot be posted",
                f"/repos/{place.repo}/issues/{place.number}/comments",
                {"body": draft.body},
            )
        except RefusedError as failure:
            if not failure.lost:
                raise
            lost = failure
            time.sleep(pause * attempt)
        if first := _settle(client, place, draft, author):
            return Posted(action="created", url=first.url, id=first.id)
    raise lost or RefusedError(
        f"{place}: the comment was posted and is not in the list",
        why="GitHub accepted it and does not show it",
        next_step=f"look at the pull request, then {WRITE_AGAIN}",
    )


def _settle(client: Client, place: Place, draft: Draft, author: str) -> Found | None:
    """One comment of ours: the oldest stays with the newest text, an untouched younger twin goes."""
    found = marked(client, place, draft, author)
    if not found:
        return None
    first, *twins = found
    for twin in twins:
        if not twin.edited:
            _remove(client, place, twin)
    behind = first.fingerprint != fingerprint(draft.text) and not first.edited
    if twins and behind and not _newer(first.started, draft.started):
        _write(client, place, first, draft)
    return first


def _write(client: Client, place: Place, found: Found, draft: Draft) -> None:
    client.patch(
        f"{found.url}: the comment cannot be updated",
        f"/repos/{place.repo}/issues/comments/{found.id}",
        {"body": draft.body},
    )


def _remove(client: Client, place: Place, twin: Found) -> None:
    try:
        client.delete(
            f"{twin.url}: the second comment cannot be removed", f"/repos/{place.repo}/issues/comments/{twin.id}"
        )
    except RefusedError as failure:
        if failure.status != 404:  # the other run removed it
            raise
