"""Review threads with their resolved mark, which only GraphQL has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from backproof.adapters.github.failure import translated_errors
from backproof.adapters.github.pulls import GitHubRecord, User

if TYPE_CHECKING:
    from backproof.adapters.github.client import GitHubClient

_PAGES = 20
QUERY = """
query ($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 50, after: $after) {
        pageInfo { hasNextPage endCursor }
        nodes {
          id isResolved isOutdated path line startLine originalLine originalStartLine
          resolvedBy { login }
          comments(first: 50) {
            nodes { body url author { login } originalCommit { oid } }
            pageInfo { hasNextPage }
          }
        }
      }
    }
  }
}
"""


class _Oid(GitHubRecord):
    oid: str


class ThreadComment(GitHubRecord):
    """One comment of a thread."""

    body: str
    url: str
    author: User | None = None
    original_commit: _Oid | None = Field(default=None, alias="originalCommit")


class _Page(GitHubRecord):
    more: bool = Field(alias="hasNextPage")
    end: str | None = Field(default=None, alias="endCursor")


class _Comments(GitHubRecord):
    nodes: tuple[ThreadComment, ...]


class ReviewThread(GitHubRecord):
    """One thread on lines of a file; lines are None where the diff has moved on."""

    id: str
    resolved: Annotated[bool, Field(alias="isResolved")]
    outdated: Annotated[bool, Field(alias="isOutdated")]
    path: str
    line: int | None = None
    original_line: int | None = Field(default=None, alias="originalLine")
    original_start: int | None = Field(default=None, alias="originalStartLine")
    comments: _Comments

    @property
    def first(self) -> ThreadComment | None:
        return self.comments.nodes[0] if self.comments.nodes else None


class _Threads(GitHubRecord):
    nodes: tuple[ReviewThread, ...]
    page: _Page = Field(alias="pageInfo")


class _Pull(GitHubRecord):
    threads: _Threads = Field(alias="reviewThreads")


class _Repository(GitHubRecord):
    pull: _Pull | None = Field(alias="pullRequest")


class _Data(GitHubRecord):
    repository: _Repository | None


def list_review_threads(client: GitHubClient, repo: str, number: int) -> tuple[ReviewThread, ...]:
    """Return all threads, a thousand at most.

    Raises:
        RefusedError: GitHub refused; without a token it always does for GraphQL.
    """
    what = f"{repo}#{number}: its review threads cannot be read"
    owner, _, name = repo.partition("/")
    threads: list[ReviewThread] = []
    after: str | None = None
    for _ in range(_PAGES):
        data = client.query(what, QUERY, {"owner": owner, "name": name, "number": number, "after": after})
        with translated_errors(what):
            answer = _Data.model_validate(data)
        if answer.repository is None or answer.repository.pull is None:
            break
        listing = answer.repository.pull.threads
        threads += listing.nodes
        after = listing.page.end
        if not listing.page.more or after is None:
            break
    return tuple(threads)
