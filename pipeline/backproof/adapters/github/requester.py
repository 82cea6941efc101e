"""One request to GitHub and its answer: what may be repeated is, waits have a cap, and the token goes to one host alone.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

import json
import time
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import httpx

from backproof import __version__
from backproof.adapters.github.failure import AGAIN, Answer, RefusedError, build_refusal, explain_silence, read_limit

if TYPE_CHECKING:
    from collections.abc import Mapping


Verb = Literal["GET", "POST", "PATCH", "DELETE"]
GRAPHQL = "/graphql"
_LARGEST = 32 * 1024 * 1024
_REDIRECTS = 5
_HEADERS = {
    "Accept": "application/vnd.github+json",
    "User-Agent": f"backproof/{__version__}",
    # Pinned: the answers of a later version lack fields that are read here (merge_commit_sha in 2026-03-10).
    "X-GitHub-Api-Version": "2022-11-28",
}


class Credentials(Protocol):
    """Whoever makes the requests."""

    def find_token(self, requester: Requester, path: str) -> str:
        """Return the token of a request to this path; `requester` can ask for one."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a request may take.

    Args:
        silence: seconds without a byte.
        answer: seconds from the request to the last byte of its answer: one that drips is never silent.
        limit: seconds that all rate limits of a request together may ask for.
        tries: of a request that may be repeated, or that a rate limit refused.
        backoff: seconds before the second try; each later one waits twice as long.
        pause: seconds between two writes, as GitHub asks.
    """

    silence: float = 20
    answer: float = 60
    limit: float = 60
    tries: int = 5
    backoff: float = 0.5
    pause: float = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request.

    Args:
        what: failed, for the error.
        verb: of HTTP.
        path: below the address of the API, or a whole URL there.
        query: parameters.
        body: JSON.
        repeatable: it may be made twice without harm.
        again: the next step after a failure that may pass.
    """

    what: str
    verb: Verb
    path: str
    query: Mapping[str, Any] | None = None
    body: object = None
    repeatable: bool = True
    again: str = AGAIN


class Requester:
    """Requests to one address of GitHub's API."""

    def __init__(self, base_url: str, credentials: Credentials | None, patience: Patience) -> None:
        self._base = httpx.URL(base_url.rstrip("/"))
        self._credentials = credentials
        self._patience = patience
        self._client = httpx.Client(headers=_HEADERS, timeout=patience.silence)
        self._last_write = -patience.pause
        weakref.finalize(self, self._client.close)

    def send(self, request: Request) -> Answer:
        """Return the answer to a request that GitHub accepted.

        Raises:
            RefusedError: GitHub refused or did not answer; `lost` says whether it may have taken effect.
        """
        answer, waited = self._follow(request), 0.0
        for attempt in range(1, self._patience.tries):
            limit = read_limit(answer)
            waited += limit or 0
            may_try = waited <= self._patience.limit if limit is not None else answer.is_lost and request.repeatable
            if not may_try:
                break
            time.sleep(self._patience.backoff * 2 ** (attempt - 1) if limit is None else limit)
            answer = self._follow(request)
        if answer.failure or not 200 <= answer.status < 300:
            raise build_refusal(request.what, answer, request.again)
        return answer

    def _follow(self, request: Request) -> Answer:
        """Make the request, and again where GitHub leads to another address for the same thing."""
        self._pause_between_writes(request)
        url, query = self._locate(request, request.path), request.query
        for _ in range(_REDIRECTS):
            answer = self._read_answer(request, url, query)
            # A write is repeated only where the status says so: after the others it would become a GET.
            if answer.status not in ({301, 302, 303, 307, 308} if request.verb == "GET" else {307, 308}):
                return answer
            url = self._locate(request, str(url.join(answer.headers.get("location", ""))))
            # A renamed repository: the address that GitHub leads to may lack the question's parameters.
            query = None if url.query else request.query
        why = f"GitHub leads from one address to the next, {_REDIRECTS} times"
        raise RefusedError(request.what, why=why, next_step=request.again)

    def _pause_between_writes(self, request: Request) -> None:
        if request.verb != "GET" and request.path != GRAPHQL:
            time.sleep(max(0.0, self._last_write + self._patience.pause - time.monotonic()))
            self._last_write = time.monotonic()

    def _locate(self, request: Request, path: str) -> httpx.URL:
        """Return the URL of a path, and of a whole URL only where it is GitHub's: the token goes with it."""
        if not path.startswith(("http://", "https://")):
            # On an enterprise server REST is below /api/v3 and GraphQL beside it.
            base = str(self._base).removesuffix("/v3") if path == GRAPHQL else str(self._base)
            return httpx.URL(f"{base}{path}")
        url = httpx.URL(path)
        is_same = (url.scheme, url.host, url.port) == (self._base.scheme, self._base.host, self._base.port)
        if is_same or (url.scheme == "https" and url.host == self._base.host):
            return url
        raise RefusedError(
            request.what,
            why=f"GitHub's answer leads to another host, {url.host}, and the token is not sent there",
            next_step=f"look for a proxy between here and {self._base.host}; for an enterprise server, set GITHUB_API_URL",
        )

    def _read_answer(self, request: Request, url: httpx.URL, query: Mapping[str, Any] | None) -> Answer:
        token = self._credentials.find_token(self, url.path) if self._credentials else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        deadline = time.monotonic() + self._patience.answer
        content = bytearray()
        try:
            with self._client.stream(request.verb, url, params=query, json=request.body, headers=headers) as response:
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _LARGEST or time.monotonic() > deadline:
                        raise httpx.ReadTimeout("the answer is too long, or took too long")
        except httpx.HTTPError as error:
            return Answer(failure=explain_silence(error))
        return _parse_answer(response, bytes(content))


def _parse_answer(response: httpx.Response, content: bytes) -> Answer:
    data, failure = None, ""
    try:
        data = json.loads(content) if content else None
    except ValueError:
        kind = response.headers.get("content-type", "").partition(";")[0]
        data = content.decode("utf-8", "replace")
        if response.is_success:
            failure = f"the answer cannot be read: it is {kind or 'no JSON'}, perhaps the page of a proxy, or cut"
    return Answer(status=response.status_code, headers=response.headers, data=data, failure=failure)
