"""Puts the audit together: reads the pull request, looks into the trees, and says what a person should see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from backproof.adapters.github import RefusedError, pulls, threads
from backproof.core.model import Finding
from backproof.records.audit import AuditRecord, CheckState, ReviewRequest
from backproof.upstream.audit import claims, history
from backproof.upstream.audit.fixups import find_closing
from backproof.upstream.audit.landing import find_landed, is_gone, is_present
from backproof.upstream.audit.review_requests import parse_wishes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.threads import ReviewThread
    from backproof.kit.plan import Plan
    from backproof.rundir.loaded_run import LoadedRun
    from backproof.upstream.audit.review_requests import Wish

_CONTENTS = 80
"""Requests for files; a pull request with more threads than that is for a person."""
_QUOTE = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What is audited. `plan` and `kit` name fix-ups; `tree` reads the code of `run`, which claims are held to."""

    repo: str
    pull: int
    original: int | None = None
    plan: Plan | None = None
    kit: Path | None = None
    tree: Callable[[str], str | None] | None = None
    run: LoadedRun | None = None


@dataclass(kw_only=True, slots=True)
class _Files:
    """Files of the repository, each read once, a bounded number of them."""

    client: GitHubClient
    repo: str
    seen: dict[tuple[str, str], str | None] = field(default_factory=dict)

    def read(self, path: str, ref: str) -> str | None:
        key = (path, ref)
        if key not in self.seen and len(self.seen) < _CONTENTS:
            self.seen[key] = pulls.read_content(self.client, self.repo, path, ref)
        return self.seen.get(key)


def examine_pull(client: GitHubClient, subject: Subject) -> AuditRecord:
    """Read the pull request and compare.

    Raises:
        RefusedError: GitHub refused what the audit cannot do without.
    """
    pull = pulls.get_pull(client, subject.repo, subject.pull)
    subject = replace(subject, original=subject.original or pull.original)
    limits: list[str] = []
    requests = _read_requests(client, subject, pull.head.sha, limits)
    original = _original_text(client, subject, limits)
    commits = pulls.add_files(client, subject.repo, pulls.list_commits(client, subject.repo, subject.pull))
    net = pulls.list_files(client, subject.repo, subject.pull)
    runs = pulls.list_check_runs(client, subject.repo, pull.head.sha)
    others = [run for run in runs if run.conclusion != "success"]
    record = AuditRecord(
        repo=subject.repo,
        pull=subject.pull,
        title=pull.title[:300],
        head=pull.head.sha,
        requests=requests,
        claims=claims.find_claims(pull.text, original, subject.run),
        cancelled=history.find_cancelled(commits, net),
        checks=tuple(CheckState(name=run.name[:200], state=run.conclusion or run.status) for run in others),
        checks_succeeded=len(runs) - len(others),
        later=history.find_later(client, subject.repo, tuple(filter(None, (subject.pull, subject.original)))),
        limits=tuple(limits),
    )
    return record.model_copy(update={"findings": tuple(_list_findings(record))})


def _original_text(client: GitHubClient, subject: Subject, limits: list[str]) -> str | None:
    if subject.original is None:
        limits.append(
            "neither the plan nor the text names an original pull request, so which claims are inherited is not known"
        )
        return None
    return pulls.get_pull(client, subject.repo, subject.original).text


def _read_requests(client: GitHubClient, subject: Subject, head: str, limits: list[str]) -> tuple[ReviewRequest, ...]:
    files = _Files(client=client, repo=subject.repo)
    found = [
        _examine_request(files, subject, thread, wish, head=head)
        for thread in _read_threads(client, subject, limits)
        for wish in parse_wishes(thread.body)
    ]
    for review in pulls.list_reviews(client, subject.repo, subject.pull):
        if review.state == "CHANGES_REQUESTED":
            wishes = parse_wishes(review.body or "")[:1]
            found += [
                ReviewRequest(url=review.html_url, author=review.author, quote=wish.prose[:_QUOTE]) for wish in wishes
            ]
    return tuple(found)


def _read_threads(client: GitHubClient, subject: Subject, limits: list[str]) -> tuple[ReviewThread, ...]:
    try:
        return threads.list_review_threads(client, subject.repo, subject.pull)
    except RefusedError as refused:
        if client.named:
            raise
        limits.append(f"review threads were not read, GitHub wants a token for them: {refused.why}")
        return ()


def _examine_request(files: _Files, subject: Subject, thread: ReviewThread, wish: Wish, *, head: str) -> ReviewRequest:
    before = files.read(thread.path, thread.original_commit) if thread.original_commit else None
    request = ReviewRequest(
        url=thread.url,
        author=thread.author,
        path=thread.path,
        lines=_describe_lines(thread),
        resolved=thread.resolved,
        quote=wish.prose[:_QUOTE],
    )
    quoted = wish.kind == "named-code" and before and is_present(wish.code, before, python=_is_python(thread))
    if wish.kind == "prose" or quoted:
        # Code that was there already is what the reviewer quotes, not what they ask for.
        return request
    changes = {
        "kind": wish.kind,
        "code": wish.code[:4000],
        "in_head": _look_up(wish, thread, before, files.read(thread.path, head)),
        "in_run": _look_up(wish, thread, before, subject.tree(thread.path)) if subject.tree else "not-looked-at",
        "closed_by": find_closing(subject.plan, subject.kit, thread.path, wish.code)
        if subject.plan and subject.kit
        else "",
    }
    return request.model_copy(update=changes)


def _look_up(wish: Wish, thread: ReviewThread, before: str | None, now: str | None) -> str:
    if now is not None and wish.code.strip():
        return find_landed(wish.code, before, now, python=_is_python(thread))
    old = _old_lines(thread, before or "")
    return is_gone(old, before or "", now) if now is not None and old.strip() else "for-a-person"


def _old_lines(thread: ReviewThread, before: str) -> str:
    """The lines that an empty suggestion would delete."""
    last = thread.original_line or 0
    return "\n".join(before.splitlines()[max(0, (thread.original_start or last) - 1) : last])


def _is_python(thread: ReviewThread) -> bool:
    return thread.path.endswith((".py", ".pyi"))


def _describe_lines(thread: ReviewThread) -> str:
    last = thread.original_line or thread.line
    first = thread.original_start or last
    return "" if last is None else (f"{first}-{last}" if first != last else str(last))


def _list_findings(record: AuditRecord) -> Iterator[Finding]:
    for request in record.requests:
        if request.resolved and request.in_head == "no":
            yield _not_landed(request)
    for change in record.later:
        if change.kind != "mention":
            how = "reverted" if change.kind == "revert" else "followed up"
            text = f"{how} by #{change.number}: {change.title}"
            yield Finding(severity="warning" if change.merged else "note", text=text, where=change.url)
    for claim in record.claims:
        if claim.answer and claim.answer.says == "contradicts":
            yield Finding(
                severity="warning", text=f"the run contradicts a claim of the pull request: {claim.answer.why}"
            )
        if "not-run" in claim.kinds or claim.inherited:
            source = "inherited from the original, not measured here"
            how = source if claim.inherited else "the pull request's own words"
            yield Finding(severity="note", text=f"{how}: {claim.quote}")
    for commit in record.cancelled:
        yield Finding(severity="note", text=f"cancels out: {commit.why}", where=commit.commit[:12])
    for check in record.checks:
        yield Finding(severity="note", text=f"check {check.name} is {check.state}")


def _not_landed(request: ReviewRequest) -> Finding:
    how = "asks for" if request.kind == "suggestion" else "names"
    closed = f"; the fix-up {request.closed_by} closes it" if request.closed_by else "; no fix-up of the kit closes it"
    code = " ".join(request.code.split())[:200]
    return Finding(
        severity="note" if request.closed_by else "warning",
        text=f"marked resolved and not landed: {request.author} {how} `{code}`{closed}",
        where=f"{request.path}:{request.lines}",
    )
