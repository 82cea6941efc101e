"""Draws up the comment anew, says what would be done with it, and does it when asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github import pulls
from backproof.adapters.github.checks import CheckMark, CheckPlace, MarkKind
from backproof.adapters.github.comment import LONGEST, CommentPlace
from backproof.adapters.github.marker import CommentDraft
from backproof.core.errors import GitHubError, HostError
from backproof.core.model import Outcome
from backproof.core.plural import format_count
from backproof.core.redaction import redact
from backproof.records.publish import PublishRecord
from backproof.report import render
from backproof.rundir.ledger import now
from backproof.upstream.publish.ready import must_be_current, must_hold, require_pull

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.upstream.publish.ready import Loaded

Language = Literal["en", "zh"]
UNSIGNED = render.Links(signer="")


@dataclass(frozen=True, kw_only=True, slots=True)
class Post:
    """What goes upstream: the comment, and the mark of the pull request's head where one is asked for."""

    comment: CommentPlace
    check: CheckPlace | None = None


def prepare_comment(
    client: GitHubClient, loaded: Loaded, *, language: Language = "en", links: render.Links = UNSIGNED
) -> CommentPlace:
    """Check everything and read everything; write nothing.

    Args:
        client: of the upstream.
        loaded: the run.
        language: of the comment.
        links: who signed the run's bundle.

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
        text=render.render_comment(loaded.story, loaded.plan, language=language, links=links),
    )
    _must_be_postable(draft.body)
    return CommentPlace(
        client=client,
        repo=loaded.plan.upstream.repo,
        number=pull.number,
        draft=draft,
        author=client.get_login(),
        recorded=_find_recorded(loaded),
    )


def _find_recorded(loaded: Loaded) -> int | None:
    """Return the comment that this run posted before, as its folder has it."""
    record = loaded.ledger.read_record(loaded.story.registry.path_of(PublishRecord), PublishRecord)
    same = record is not None and (record.repo, record.pull) == (loaded.plan.upstream.repo, require_pull(loaded))
    return record.comment if record and same else None


def prepare_check(client: GitHubClient, loaded: Loaded, kind: MarkKind) -> CheckPlace:
    """Return the mark for the head of the pull request: what was proved and lacks nothing there is a success."""
    upstream, run = loaded.plan.upstream, loaded.run
    number = require_pull(loaded)
    head = pulls.get_pull(client, upstream.repo, number).head.sha
    fixups = loaded.story.fixup.fixups if loaded.story.fixup else ()
    lacking = sum(fixup.outcome == "applied" for fixup in fixups)
    conclusion: Literal["success", "failure", "action_required"] = "action_required" if lacking else "success"
    title = f"{format_count(lacking, 'fix-up')} not in the pull request; {run.sentence}" if lacking else run.sentence
    mark = CheckMark(
        name=f"backproof / {run.kit} / {run.settings.branch} / {run.settings.device}",
        run=run.id,
        conclusion="failure" if run.outcome is Outcome.FAIL else conclusion,
        title=title,
        summary=render.render_comment(loaded.story, loaded.plan),
    )
    _must_be_postable(f"{mark.title}\n{mark.summary}")
    return CheckPlace(client=client, repo=upstream.repo, sha=head, kind=kind, mark=mark)


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


def send_post(post: Post) -> PublishRecord:
    """Post the comment, then the mark that leads to it, and return what the run folder should keep of both.

    Raises:
        RefusedError: GitHub refused.
        NeedsReview: a person has edited our comment.
    """
    place = post.comment
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
        check=post.check.carry_out(posted.url) if post.check else "",
        sha256=hashlib.sha256(place.draft.body.encode()).hexdigest(),
        at=now(),
    )
