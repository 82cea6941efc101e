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


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentPlace:
    """The one comment of an author in a conversation that a draft is for; without an author, anybody's."""

    client: GitHubClient
    repo: str
    number: int
    draft: CommentDraft
    author: str | None

    def __str__(self) -> str:
        return f"{self.repo}#{self.number}"

    def plan(self) -> CommentPlan:
        """Return the action after which the draft stands there once.

        Raises:
            NeedsReview: a person has edited the comment since.
        """
        comments = self._find_marked()
        if not comments:
            return CommentPlan(
                action="create", why=f"{self} has no comment of Backproof for {', '.join(self.draft.key)}"
            )
        first = comments[0]
        if first.edited:
            raise NeedsReview(
                f"{first.url}: a person has edited this comment since it was posted",
                why="its text is not the one that its marker names",
                next_step="save their edits elsewhere, then delete the comment and run the same command again",
            )
        if _is_newer(first.started, self.draft.started):
            why = f"it shows a run of {first.started}, which is newer than this one"
            return CommentPlan(action="keep", why=why, comment=first)
        if first.fingerprint == hash_text(self.draft.text):
            return CommentPlan(action="keep", why="its text is the same", comment=first)
        return CommentPlan(action="update", why=f"it shows a run of {first.started}", comment=first)

    def carry_out(self, *, pause: float = 2) -> PostedComment:
        """List, write what is missing or changed, list again.

        Raises:
            RefusedError: GitHub refused, or did not answer and the comment is not there.
            NeedsReview: as `plan`.
        """
        plan = self.plan()
        if plan.comment is None:
            return self._create_comment(pause)
        if plan.action == "keep":
            return PostedComment(action="kept", url=plan.comment.url, id=plan.comment.id)
        self._update_comment(plan.comment)
        self._settle_comments()
        return PostedComment(action="updated", url=plan.comment.url, id=plan.comment.id)

    def _find_marked(self) -> list[MarkedComment]:
        """Return the comments with the draft's marker, oldest first."""
        what = f"{self}: its comments cannot be listed"
        comments = []
        for item in self.client.list_items(what, f"/repos/{self.repo}/issues/{self.number}/comments"):
            with translated_errors(what):
                comment = read_marker(item)
            if comment and comment.key == self.draft.key and self.author in {None, comment.login}:
                comments.append(comment)
        return sorted(comments, key=lambda entry: entry.id)

    def _create_comment(self, pause: float) -> PostedComment:
        """Post the comment. The answer says which one it is; only one whose reply was lost is looked for in the list."""
        what, path = f"{self}: the comment cannot be posted", f"/repos/{self.repo}/issues/{self.number}/comments"
        lost: RefusedError | None = None
        for attempt in range(_TRIES):
            try:
                answer = self.client.write(what, "POST", path, {"body": self.draft.body})
            except RefusedError as failure:
                if not failure.lost:
                    raise
                lost = failure
                time.sleep(pause * attempt)
                first = self._settle_comments()
            else:
                with translated_errors(what):
                    first = self._settle_comments(read_marker(answer), pause)
            if first:
                return PostedComment(action="created", url=first.url, id=first.id)
        raise lost or RefusedError(
            f"{self}: what was posted is not what GitHub shows",
            why="the answer has not the text that was sent",
            next_step=f"look at the pull request, then {WRITE_AGAIN}",
        )

    def _settle_comments(self, own: MarkedComment | None = None, pause: float = 0) -> MarkedComment | None:
        """Leave one comment: the oldest stays with the newest text, an untouched younger twin is deleted.

        Lists lag behind answers. While the comment just made is missing, an older one may be missing, too.
        """
        comments = self._find_marked()
        for attempt in range(_TRIES):
            if own is None or own.id in {comment.id for comment in comments}:
                break
            time.sleep(pause * (attempt + 1))
            comments = self._find_marked()
        if not comments:
            return own
        first, *twins = comments
        for twin in twins:
            if not twin.edited:
                self._remove_comment(twin)
        behind = first.fingerprint != hash_text(self.draft.text) and not first.edited
        if twins and behind and not _is_newer(first.started, self.draft.started):
            self._update_comment(first)
        return first

    def _update_comment(self, comment: MarkedComment) -> None:
        what, path = f"{comment.url}: the comment cannot be updated", f"/repos/{self.repo}/issues/comments/{comment.id}"
        self.client.write(what, "PATCH", path, {"body": self.draft.body})

    def _remove_comment(self, twin: MarkedComment) -> None:
        what = f"{twin.url}: the second comment cannot be removed"
        try:
            self.client.write(what, "DELETE", f"/repos/{self.repo}/issues/comments/{twin.id}")
        except RefusedError as failure:
            if failure.status != 404:  # the other run removed it
                raise


def _is_newer(one: str, other: str) -> bool:
    try:
        return datetime.fromisoformat(one) > datetime.fromisoformat(other)
    except (ValueError, TypeError):
        return False
