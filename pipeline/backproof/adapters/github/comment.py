"""One comment per kit, branch and device, found by a hidden marker and its author; a person's edits are never overwritten.

The order is list, compare, write, list again: a lost reply, a second run at the same time and a late listing all end
with one comment.
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

    @property
    def comments(self) -> str:
        return f"/repos/{self.repo}/issues/{self.number}/comments"

    def path_of(self, comment: MarkedComment) -> str:
        return f"/repos/{self.repo}/issues/comments/{comment.id}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentPlan:
    """The action to take; `publish` prints it and `--publish` carries it out."""

    action: Literal["create", "update", "keep"]
    why: str
    comment: MarkedComment | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedComment:
    """The action taken."""

    action: Literal["created", "updated", "kept"]
    url: str
    id: int


def find_marked(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str | None
) -> list[MarkedComment]:
    """Return the comments with the draft's marker by this author, oldest first; without an author, those by anybody."""
    what = f"{place}: its comments cannot be listed"
    comments = []
    for item in client.list_items(what, place.comments):
        with translated_errors(what):
            comment = read_marker(item)
        if comment and comment.key == draft.key and author in {None, comment.login}:
            comments.append(comment)
    return sorted(comments, key=lambda entry: entry.id)


def plan_comment(client: GitHubClient, place: Conversation, draft: CommentDraft, author: str | None) -> CommentPlan:
    """Return the action after which the draft stands there once.

    Raises:
        NeedsReview: a person has edited the comment since.
    """
    comments = find_marked(client, place, draft, author)
    return _choose_action(place, draft, comments)


def _choose_action(place: Conversation, draft: CommentDraft, comments: list[MarkedComment]) -> CommentPlan:
    if not comments:
        return CommentPlan(action="create", why=f"{place} has no comment of Backproof for {', '.join(draft.key)}")
    first = comments[0]
    if first.edited:
        raise NeedsReview(
            f"{first.url}: a person has edited this comment since it was posted",
            why="its text is not the one that its marker names",
            next_step="save their edits elsewhere, then delete the comment and run the same command again",
        )
    if _is_newer(first.started, draft.started):
        return CommentPlan(
            action="keep", why=f"it shows a run of {first.started}, which is newer than this one", comment=first
        )
    if first.fingerprint == hash_text(draft.text):
        return CommentPlan(action="keep", why="its text is the same", comment=first)
    return CommentPlan(action="update", why=f"it shows a run of {first.started}", comment=first)


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
        RefusedError: GitHub refused, or did not answer and the comment is not there.
        NeedsReview: as `plan_comment`.
    """
    plan = plan_comment(client, place, draft, author)
    if plan.comment is None:
        return _create_comment(client, place, draft, author, pause)
    if plan.action == "keep":
        return PostedComment(action="kept", url=plan.comment.url, id=plan.comment.id)
    _update_comment(client, place, plan.comment, draft)
    _settle_comments(client, place, draft, author)
    return PostedComment(action="updated", url=plan.comment.url, id=plan.comment.id)


def _create_comment(
    client: GitHubClient, place: Conversation, draft: CommentDraft, author: str, pause: float
) -> PostedComment:
    """Post the comment. One whose reply was lost may be there: only the list shows it, so that is read first."""
    lost: RefusedError | None = None
    for attempt in range(_TRIES):
        try:
            client.write(f"{place}: the comment cannot be posted", "POST", place.comments, {"body": draft.body})
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
    """Leave one comment: the oldest stays with the newest text, an untouched younger twin is deleted."""
    comments = find_marked(client, place, draft, author)
    if not comments:
        return None
    first, *twins = comments
    for twin in twins:
        if not twin.edited:
            _remove_comment(client, place, twin)
    behind = first.fingerprint != hash_text(draft.text) and not first.edited
    if twins and behind and not _is_newer(first.started, draft.started):
        _update_comment(client, place, first, draft)
    return first


def _update_comment(client: GitHubClient, place: Conversation, comment: MarkedComment, draft: CommentDraft) -> None:
    path = place.path_of(comment)
    client.write(f"{comment.url}: the comment cannot be updated", "PATCH", path, {"body": draft.body})


def _remove_comment(client: GitHubClient, place: Conversation, twin: MarkedComment) -> None:
    try:
        client.write(f"{twin.url}: the second comment cannot be removed", "DELETE", place.path_of(twin))
    except RefusedError as failure:
        if failure.status != 404:  # the other run removed it
            raise
