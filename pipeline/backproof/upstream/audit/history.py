"""What the pull request's commits cancel, and what came after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from backproof.adapters.github import issues
from backproof.records.audit import LaterChange
from backproof.records.proof import OtherCommit

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.issues import Issue
    from backproof.adapters.github.pulls import ChangedFile, Commit

_FOLLOWS = re.compile(
    r"\b(?:follow[- ]?up|fix(?:es|ed)?|regression|caused by|introduced (?:by|in)|amend)\b", re.IGNORECASE
)


def find_cancelled(commits: tuple[Commit, ...], net: tuple[ChangedFile, ...]) -> tuple[OtherCommit, ...]:
    """Commits of which nothing is left in the pull request as a whole: another commit takes out what they bring."""
    left = {name for item in net for name in (item.filename, item.previous_filename) if name}
    found = []
    for commit in commits:
        paths = {file.filename for file in commit.files}
        if not paths or paths & left:
            continue
        sharing = [other.sha[:12] for other in commits if paths & {file.filename for file in other.files}]
        partners = [sha for sha in sharing if sha != commit.sha[:12]]
        why = f"touches {', '.join(sorted(paths)[:5])}, and none of it is in the pull request as a whole"
        why += f"; {', '.join(partners)} touch the same" if partners else ""
        found.append(OtherCommit(commit=commit.sha, subject=commit.subject, why=why, computed=True))
    return tuple(found)


def find_later(client: GitHubClient, repo: str, numbers: tuple[int, ...]) -> tuple[LaterChange, ...]:
    """Pull requests that name one of these: one search each."""
    found: dict[int, LaterChange] = {}
    for number in numbers:
        name = re.compile(rf"(?:#|/pull/){number}\b")
        for issue in issues.search_issues(client, repo, f'"{number}"', kind="pr"):
            if issue.number not in numbers and name.search(issue.text[:60_000]):
                found.setdefault(
                    issue.number,
                    LaterChange(
                        number=issue.number,
                        title=issue.title[:300],
                        url=issue.html_url,
                        kind=_change_kind(issue, repo, number),
                        merged=bool(issue.pull and issue.pull.merged_at),
                    ),
                )
    order = ("revert", "follow-up", "mention")
    return tuple(sorted(found.values(), key=lambda item: (order.index(item.kind), item.number)))


def _change_kind(issue: Issue, repo: str, number: int) -> Literal["revert", "follow-up", "mention"]:
    text = f"{issue.title}\n{(issue.body or '')[:4000]}"
    reverts = rf"\brevert(?:s|ed)?\b[^\n]{{0,120}}(?:{re.escape(repo)})?#{number}\b"
    # The number can stand before the word: "#12 broke the build. This PR reverts it."
    before = rf"#{number}\b.{{0,300}}?\brevert(?:s|ed|ing)? (?:it|this|that|the)\b"
    if re.search(f"{reverts}|{before}", text, re.IGNORECASE | re.DOTALL) or (
        issue.title.lower().startswith("revert") and f"#{number}" in text
    ):
        return "revert"
    return "follow-up" if issue.number > number and _FOLLOWS.search(text) else "mention"
