"""Searches the issues and pull requests of a repository: few calls, few results, ranked elsewhere."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from backproof.adapters.github.failure import translated_errors
from backproof.adapters.github.pulls import GitHubRecord

if TYPE_CHECKING:
    from backproof.adapters.github.client import GitHubClient

PER_SEARCH = 50


class _Label(GitHubRecord):
    name: str = ""


class _PullPart(GitHubRecord):
    merged_at: str | None = None


class Issue(GitHubRecord):
    """One issue or pull request as the search gives it."""

    number: int
    title: str
    body: str | None = None
    state: str = "open"
    html_url: str = ""
    labels: tuple[_Label, ...] = ()
    pull: _PullPart | None = Field(default=None, alias="pull_request")

    @property
    def text(self) -> str:
        labels = " ".join(label.name for label in self.labels)
        return f"{self.title}\n{labels}\n{self.body or ''}"


def search_issues(client: GitHubClient, repo: str, words: str, *, kind: Literal["issue", "pr"]) -> tuple[Issue, ...]:
    """Return the issues (or pull requests) with the words, as far as they are on the first page."""
    what = f"{repo}: its issues cannot be searched"
    query = {"q": f"repo:{repo} is:{kind} {words}", "per_page": PER_SEARCH}
    data = client.get_json(what, "/search/issues", query)
    with translated_errors(what):
        items = data.get("items") if isinstance(data, dict) else None
        return tuple(Issue.model_validate(item) for item in islice(items or (), PER_SEARCH))
