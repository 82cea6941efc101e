"""Requests to GitHub through PyGithub's requester: retries that cannot post twice, waits that have a cap."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from github import Github, GithubRetry
from github.GithubException import RateLimitExceededExceedsMaxWait
from pydantic import BaseModel

from backproof import __version__
from backproof.adapters.github.failure import WRITE_AGAIN, RefusedError, translated_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    from github.Auth import Auth
    from urllib3 import Retry
    from urllib3.connectionpool import ConnectionPool
    from urllib3.response import HTTPResponse

R = TypeVar("R", bound=BaseModel)

API = "https://api.github.com"
_READS = frozenset({"GET", "HEAD", "PATCH"})
_PAGES = 100
_NEXT_PAGE = re.compile(r'<([^>]{1,2000})>;\s*rel="next"')


class _CappedRetry(GithubRetry):
    """GithubRetry whose cap holds for a Retry-After header, too: urllib3 waits as long as that says."""

    def increment(  # type: ignore[override] # as GithubRetry has it
        self,
        method: str | None = None,
        url: str | None = None,
        response: HTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: TracebackType | None = None,
    ) -> Retry:
        wait = (self.get_retry_after(response) or 0) if response is not None else 0
        if response is not None and self.max_rate_limit_wait is not None and wait > self.max_rate_limit_wait:
            response.drain_conn()
            response.close()
            message = {"message": f"a rate limit asks to wait {wait:.0f} s"}
            raise RateLimitExceededExceedsMaxWait(response.status, message, dict(response.headers), wait=wait)
        return super().increment(method, url, response, error, _pool, _stacktrace)


def retry_policy(*, post: bool = False, backoff: float = 0.5, longest_wait: float = 60) -> GithubRetry:
    """Return the retries of requests that may be repeated without harm.

    PyGithub's own default repeats POST after a 502 but not PATCH, the wrong way round for a comment, and has no cap on
    its rate-limit wait: https://github.com/EnricoMi/publish-unit-test-result-action/issues/385 shows one of 24 minutes.
    """
    methods = frozenset({"POST"}) if post else _READS
    return _CappedRetry(total=4, max_rate_limit_wait=longest_wait, allowed_methods=methods, backoff_factor=backoff)


class GitHubClient:
    """The requests to GitHub; with `auth` None it reads public things only."""

    def __init__(
        self,
        *,
        auth: Auth | None,
        base_url: str = API,
        retry: Retry | None = None,
        query_retry: Retry | None = None,
        pause: float = 1,
        timeout: int = 20,
    ) -> None:
        self.named = auth is not None
        self._rest = _build_github(base_url, auth, retry or retry_policy(), pause, timeout)
        # A query is a POST that changes nothing, so this one may be repeated.
        self._graph = _build_github(base_url, auth, query_retry or retry_policy(post=True), 0, timeout)

    def get_json(self, what: str, path: str, parameters: dict[str, Any] | None = None) -> Any:
        """Return the JSON of one resource.

        Raises:
            RefusedError: GitHub refused or did not answer.
        """
        return self._get(what, path, parameters)[1]

    def list_items(
        self, what: str, path: str, parameters: dict[str, Any] | None = None, *, key: str = ""
    ) -> Iterator[Any]:
        """Yield all items of a list, each once; `key` names the list in an answer that is an object."""
        seen: set[Any] = set()
        following: str | None = path
        query: dict[str, Any] | None = {"per_page": 100, **(parameters or {})}
        for _ in range(_PAGES):
            if following is None:
                return
            headers, data = self._get(what, following, query)
            # A page can come twice while others write; an item counts once.
            yield from _drop_seen(_extract_list(what, data, key), seen)
            match = _NEXT_PAGE.search(str(headers.get("link", "")))
            following, query = match[1] if match else None, None
        raise RefusedError(
            what,
            why=f"the list has more than {_PAGES} pages",
            next_step="Backproof reads no more; do it by hand, or in a pull request with less on it",
        )

    def get_record(self, what: str, path: str, kind: type[R]) -> R:
        """Return the answer at a path as a record."""
        data = self.get_json(what, path)
        with translated_errors(what):
            return kind.model_validate(data)

    def list_records(
        self, what: str, path: str, kind: type[R], *, most: int | None = None, key: str = ""
    ) -> tuple[R, ...]:
        """Return the items of a list as records, at most so many."""
        items = islice(self.list_items(what, path, key=key), most)
        with translated_errors(what):
            return tuple(kind.model_validate(item) for item in items)

    def write(self, what: str, verb: Literal["POST", "PATCH", "DELETE"], path: str, body: object = None) -> None:
        """Send what changes something.

        Raises:
            RefusedError: GitHub refused or did not answer; `lost` says whether it may have taken effect.
        """
        with translated_errors(what, again=WRITE_AGAIN):
            self._rest.requester.requestJsonAndCheck(verb, path, input=body)

    def query(self, what: str, document: str, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query."""
        with translated_errors(what):
            data: Any = self._graph.requester.graphql_query(document, variables)[1].get("data")
        if not isinstance(data, dict):
            raise _build_format_error(what)
        return data

    def get_login(self) -> str | None:
        """Return the owner of the token. REST's /user refuses the token of an App or of Actions; GraphQL's viewer does not."""
        if not self.named:
            return None
        data = self.query("whose token this is cannot be read", "query { viewer { login } }", {})
        return str(data["viewer"]["login"])

    def _get(self, what: str, path: str, parameters: dict[str, Any] | None) -> tuple[dict[str, Any], Any]:
        with translated_errors(what):
            return self._rest.requester.requestJsonAndCheck("GET", path, parameters=parameters)


def _build_github(base_url: str, auth: Auth | None, retry: Retry, pause: float, timeout: int) -> Github:
    return Github(
        auth=auth,
        base_url=base_url.rstrip("/"),
        retry=retry,
        timeout=timeout,
        seconds_between_writes=pause or None,
        seconds_between_requests=None,
        user_agent=f"backproof/{__version__}",
        lazy=True,
    )


def _extract_list(what: str, data: Any, key: str) -> list[Any]:
    items = data.get(key) if key and isinstance(data, dict) else data
    if not isinstance(items, list):
        raise _build_format_error(what)
    return items


def _drop_seen(items: list[Any], seen: set[Any]) -> Iterator[Any]:
    for item in items:
        name = (item.get("id") or item.get("sha") or item.get("filename")) if isinstance(item, dict) else None
        if name is None or name not in seen:
            seen.add(name)
            yield item


def _build_format_error(what: str) -> RefusedError:
    return RefusedError(
        what,
        why="the answer is not of the form that GitHub documents",
        next_step="run the same command again; if it stays so, look for a proxy between here and GitHub",
    )
