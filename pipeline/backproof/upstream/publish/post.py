"""Draws up the comment anew, says what would be done with it, and does it when asked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github.comment import LONGEST, CommentPlace
from backproof.adapters.github.marker import CommentDraft
from backproof.core.errors import GitHubError, HostError
from backproof.core.redaction import redact
from backproof.records.publish import PublishRecord
from backproof.report import render
from backproof.rundir.ledger import now
from backproof.upstream.publish.ready import must_be_current, must_hold

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.upstream.publish.ready import Loaded

Language = Literal["en", "zh"]


def prepare_comment(client: GitHubClient, loaded: Loaded, *, language: Language = "en") -> CommentPlace:
    """Check everything and read everything; write nothing.

    Raises:
        HostError, NeedsReview: the run may not be published, see `ready`.
        RefusedError: GitHub refused.
    """
    must_hold(loaded)
    pull = must_be_current(client, loaded)
    run = loaded.run
    draft = CommentDraft(
        kit=run.kit,
        branch=run.settings.branch,
        device=run.settings.device,
        run=run.id,
        started=run.started,
        text=render.render_comment(loaded.story, loaded.plan, language=language),
    )
    _must_be_postable(draft.body)
    return CommentPlace(
        client=client, repo=loaded.plan.upstream.repo, number=pull.number, draft=draft, author=client.get_login()
    )


def _must_be_postable(body: str) -> None:
    """The last look before it leaves: what the rendering should have held."""
    if len(body) > LONGEST:
        raise HostError(
            "the comment is too long for GitHub",
            why=f"it has {len(body)} characters after everything that may go was cut",
            next_step="tell us: the template should have cut more",
        )
    if redact(body, env={}) != body:
        raise HostError(
            "the comment would show something that looks like a token",
            why="it got past the masking of each value",
            next_step="look at comment.md of the run, take the secret out of the plan or the logs, and tell us",
        )


def post_comment(place: CommentPlace) -> PublishRecord:
    """Post it, and return what the run folder should keep of it.

    Raises:
        RefusedError: GitHub refused.
        NeedsReview: a person has edited our comment.
    """
    if place.author is None:
        raise GitHubError(
            "there is no token",
            why="GitHub takes comments from somebody only",
            next_step="set GH_TOKEN to a token with `pull-requests: write` on that repository",
        )
    posted = place.carry_out()
    return PublishRecord(
        repo=place.repo,
        pull=place.number,
        action=posted.action,
        url=posted.url,
        comment=posted.id,
        sha256=hashlib.sha256(place.draft.body.encode()).hexdigest(),
        at=now(),
    )
