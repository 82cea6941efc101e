"""One comment per kit, branch and device, found by a hidden marker and its author, and never written over a person.

The order is list, compare, write, list again: a lost reply, a second run at the same time and a listing that came late
all end with one comment.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github.failure import WRITE_AGAIN, RefusedError, translated_errors
from backproof.adapters.github.marker import hash_text, read_marker
from backproof.core.errors import NeedsReview

if TYPE_CHECKING:
    from backproof.adapters.github.client import GitHubClient
    from backproof.adapters.github.marker import CommentDraft, MarkedComment

LONGEST = 65_536
"""GitHub's limit for a comment, in characters."""
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation:
    """A conversation."""

    repo: str
    number: int

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentPlan:
    """What would be done; `publish` prints this and `--publish` carries it out."""

    action: Literal["create", "update", "keep"]
    why: str
    found: MarkedComment | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedComment:
    """What was done."""

    action: Literal["created", "updated", "kept"]
    url: str
    id: int


def find_marked(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str | None
) -> list[MarkedComment]:
    """Comments with the draft's marker by this author, oldest first; with no author known, by anybody."""
    what = f"{place}: its comments cannot be listed"
    found = []
    for item in client.list_items(what, f"/repos/{place.repo}/issues/{place.number}/comments"):
        with translated_errors(what):
            read = read_marker(item)
        if read and read.key == draft.key and author in {None, read.login}:
            found.append(read)
    return sorted(found, key=lambda entry: entry.id)


def plan_comment(client: GitHubClient, place: Conversation, draft: CommentDraft, author: str | None) -> CommentPlan:
    """What must be done so that the draft stands there once.

    Raises:
        NeedsReview: a person has edited our comment since.
    """
    found = find_marked(client, place, draft, author)
    return _choose_action(place, draft, found)


def _choose_action(place: Conversation, draft: CommentDraft, found: list[MarkedComment]) -> CommentPlan:
    if not found:
        return CommentPlan(action="create", why=f"{place} has no comment of ours for {', '.join(draft.key)}")
    first = found[0]
    if first.edited:
        raise NeedsReview(
            f"{first.url}: a person has edited this comment since we wrote it",
            why="its text is not the one that its marker names",
            next_step="move their words to a comment of their own and delete ours, then run the same command again",
        )
    if _is_newer(first.started, draft.started):
        return CommentPlan(
            action="keep", why=f"it shows a run of {first.started}, which is newer than this one", found=first
        )
    if first.fingerprint == hash_text(draft.text):
        return CommentPlan(action="keep", why="its text is the same", found=first)
    return CommentPlan(action="update", why=f"it shows a run of {first.started}", found=first)


def _is_newer(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False


def carry_out_plan(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str, *, pause: float = 2
) -> PostedComment:
    """List, write what is missing or changed, list again.

    Raises:
        RefusedError: GitHub refused, or did not answer and nothing of ours stands there.
        NeedsReview: as `intend`.
    """
    intent = plan_comment(client, place, draft, author)
    if intent.found is None:
        return _create_comment(client, place, draft, author, pause)
    if intent.action == "keep":
        return PostedComment(action="kept", url=intent.found.url, id=intent.found.id)
    _update_comment(client, place, intent.found, draft)
    _settle_comments(client, place, draft, author)
    return PostedComment(action="updated", url=intent.found.url, id=intent.found.id)


def _create_comment(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str, pause: float
) -> PostedComment:
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
        if first := _settle_comments(client, place, draft, author):
            return PostedComment(action="created", url=first.url, id=first.id)
    raise lost or RefusedError(
        f"{place}: the comment was posted and is not in the list",
        why="GitHub accepted it and does not show it",
        next_step=f"look at the pull request, then {WRITE_AGAIN}",
    )


def _settle_comments(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str
) -> MarkedComment | None:
    """One comment of ours: the oldest stays with the newest text, an untouched younger twin goes."""
    found = find_marked(client, place, draft, author)
    if not found:
        return None
    first, *twins = found
    for twin in twins:
        if not twin.edited:
            _remove_comment(client, place, twin)
    behind = first.fingerprint != hash_text(draft.text) and not first.edited
    if twins and behind and not _is_newer(first.started, draft.started):
        _update_comment(client, place, first, draft)
    return first


def _update_comment(client: GitHubClient, place: Conversation, found: MarkedComment, draft: CommentDraft) -> None:
    client.patch(
        f"{found.url}: the comment cannot be updated",
        f"/repos/{place.repo}/issues/comments/{found.id}",
        {"body": draft.body},
    )


def _remove_comment(client: GitHubClient, place: Conversation, twin: MarkedComment) -> None:
    try:
        client.delete(
            f"{twin.url}: the second comment cannot be removed", f"/repos/{place.repo}/issues/comments/{twin.id}"
        )
    except RefusedError as failure:
        if failure.status != 404:  # the other run removed it
            raise
