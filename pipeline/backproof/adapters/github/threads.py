"""Review threads with their resolved mark, which only GraphQL has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AliasPath, Field

from backproof.adapters.github.failure import translated_errors
from backproof.adapters.github.pulls import GHOST, GitHubRecord

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
          isResolved path line originalLine originalStartLine
          comments(first: 1) { nodes { body url author { login } originalCommit { oid } } }
        }
      }
    }
  }
}
"""


_FIRST = ("comments", "nodes", 0)


class ReviewThread(GitHubRecord):
    """One thread on lines of a file, with its first comment; lines are None where the diff has moved on."""

    resolved: Annotated[bool, Field(alias="isResolved")]
    path: str
    line: int | None = None
    original_line: Annotated[int | None, Field(alias="originalLine")] = None
    original_start: Annotated[int | None, Field(alias="originalStartLine")] = None
    body: Annotated[str, Field(validation_alias=AliasPath(*_FIRST, "body"))] = ""
    url: Annotated[str, Field(validation_alias=AliasPath(*_FIRST, "url"))] = ""
    author: Annotated[str, Field(validation_alias=AliasPath(*_FIRST, "author", "login"))] = GHOST
    original_commit: Annotated[str, Field(validation_alias=AliasPath(*_FIRST, "originalCommit", "oid"))] = ""


_THREADS = ("repository", "pullRequest", "reviewThreads")


class _Page(GitHubRecord):
    nodes: Annotated[tuple[ReviewThread, ...], Field(validation_alias=AliasPath(*_THREADS, "nodes"))]
    more: Annotated[bool, Field(validation_alias=AliasPath(*_THREADS, "pageInfo", "hasNextPage"))]
    end: Annotated[str | None, Field(validation_alias=AliasPath(*_THREADS, "pageInfo", "endCursor"))]


def list_review_threads(client: GitHubClient, repo: str, number: int) -> tuple[ReviewThread, ...]:
    """Return all threads, a thousand at most.

    Raises:
        RefusedError: GitHub refused (without a token it always does for GraphQL), or has no such pull request.
    """
    what = f"{repo}#{number}: its review threads cannot be read"
    owner, _, name = repo.partition("/")
    threads: list[ReviewThread] = []
    after: str | None = None
    for _ in range(_PAGES):
        data = client.query(what, QUERY, {"owner": owner, "name": name, "number": number, "after": after})
        with translated_errors(what):
            page = _Page.model_validate(data)
        threads += page.nodes
        after = page.end if page.more else None
        if after is None:
            break
    return tuple(threads)
