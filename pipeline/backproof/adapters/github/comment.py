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
    from collections.abc import Iterable, Iterator

    from backproof.adapters.github.client import GitHubClient
    from backproof.adapters.github.marker import CommentDraft, MarkedComment

LONGEST = 65_536
"""GitHub's limit for a comment, in characters."""
_TRIES = 3
_LOOKS = 5
"""For a comment that was posted, with pauses of 2, 4, 6, 8 and 10 seconds: lists lag."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentPlan:
    """The action to take, and the younger comments that it removes; `publish` prints it and `--publish` carries it out."""

    action: Literal["create", "update", "keep"]
    why: str
    comment: MarkedComment | None = None
    twins: tuple[MarkedComment, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class PostedComment:
    """The action taken."""

    action: Literal["created", "updated", "kept"]
    url: str
    id: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CommentPlace:
    """The one comment of an author in a conversation that a draft is for; without an author, anybody's.

    Args:
        recorded: the id of the comment that this run posted before: it is read by itself where the list lacks it.
    """

    client: GitHubClient
    repo: str
    number: int
    draft: CommentDraft
    author: str | None
    recorded: int | None = None

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
        first, *twins = comments
        if first.edited:
            raise NeedsReview(
                f"{first.url}: a person has edited this comment since it was posted",
                why="its text is not the one that its marker names",
                next_step="save their edits elsewhere, then delete the comment and run the same command again",
            )
        action, why = self._choose_action(first)
        untouched = tuple(twin for twin in twins if not twin.edited)
        return CommentPlan(action=action, why=why, comment=first, twins=untouched)

    def _choose_action(self, first: MarkedComment) -> tuple[Literal["update", "keep"], str]:
        if _is_newer(first.started, self.draft.started):
            return "keep", f"it shows a run of {first.started}, which is newer than this one"
        if first.fingerprint == hash_text(self.draft.text):
            return "keep", "its text is the same"
        return "update", f"it shows a run of {first.started}"

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
            self._remove_twins(plan.comment, list(plan.twins))
            return PostedComment(action="kept", url=plan.comment.url, id=plan.comment.id)
        self._update_comment(plan.comment)
        self._settle_comments(None, pause)
        return PostedComment(action="updated", url=plan.comment.url, id=plan.comment.id)

    def _find_marked(self) -> list[MarkedComment]:
        """Return the comments with the draft's marker, oldest first."""
        what, path = f"{self}: its comments cannot be listed", f"/repos/{self.repo}/issues"
        comments = self._keep_ours(what, self.client.list_items(what, f"{path}/{self.number}/comments"))
        if self.recorded and self.recorded not in {comment.id for comment in comments}:
            comments += self._keep_ours(what, self._read_recorded(what, f"{path}/comments/{self.recorded}"))
        return sorted(comments, key=lambda comment: comment.id)

    def _keep_ours(self, what: str, items: Iterable[object]) -> list[MarkedComment]:
        with translated_errors(what):
            marked = [comment for comment in map(read_marker, items) if comment]
        return [item for item in marked if item.key == self.draft.key and self.author in {None, item.login}]

    def _read_recorded(self, what: str, path: str) -> Iterator[object]:
        """Yield the comment that the run folder names, where this conversation still has it."""
        try:
            item = self.client.get_json(what, path)
        except RefusedError as failure:
            if failure.status != 404:
                raise
            return
        if isinstance(item, dict) and str(item.get("issue_url")).endswith(f"/issues/{self.number}"):
            yield item

    def _create_comment(self, pause: float) -> PostedComment:
        """Post the comment. The answer says which one it is; only one whose reply was lost is looked for in the list."""
        what, path = f"{self}: the comment cannot be posted", f"/repos/{self.repo}/issues/{self.number}/comments"
        lost: RefusedError | None = None
        for posts in range(1, _TRIES + 1):
            try:
                answer = self.client.write(what, "POST", path, {"body": self.draft.body})
            except RefusedError as failure:
                if not failure.lost:
                    raise
                lost = failure
                first = self._settle_comments(None, pause, posts)
            else:
                with translated_errors(what):
                    first = self._settle_comments(read_marker(answer), pause, posts)
                lost = None
            if first:
                return PostedComment(action="created", url=first.url, id=first.id)
            if lost is None:
                break
        raise lost or RefusedError(
            f"{self}: what was posted is not what GitHub shows",
            why="the answer has not the text that was sent",
            next_step=f"look at the pull request, then {WRITE_AGAIN}",
        )

    def _settle_comments(self, own: MarkedComment | None, pause: float, posts: int = 1) -> MarkedComment | None:
        """Leave one comment: the oldest stays with the newest text, an untouched younger twin is deleted.

        Lists lag behind answers. While the comment just made is missing, an older one may be missing, too; after a second
        post, so may the one of the first, whose reply was lost.
        """
        comments = {comment.id: comment for comment in self._find_marked()}
        for look in range(1, _LOOKS + 1):
            if len(comments) >= posts and (own is None or own.id in comments):
                break
            time.sleep(pause * look)
            comments = {comment.id: comment for comment in self._find_marked()}
        if own:
            comments.setdefault(own.id, own)
        if not comments:
            return None
        first, *twins = (comments[number] for number in sorted(comments))
        self._remove_twins(first, twins)
        return first

    def _remove_twins(self, first: MarkedComment, twins: list[MarkedComment]) -> None:
        for twin in twins:
            if not twin.edited:
                self._remove_comment(twin)
        behind = first.fingerprint != hash_text(self.draft.text) and not first.edited
        if twins and behind and not _is_newer(first.started, self.draft.started):
            self._update_comment(first)

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
