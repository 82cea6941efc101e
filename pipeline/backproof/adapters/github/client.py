"""The requests to GitHub: records and lists of them, queries, and writes that are made once."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import BaseModel

from backproof.adapters.github.failure import WRITE_AGAIN, RefusedError, build_refusal, translated_errors
from backproof.adapters.github.requester import GRAPHQL, Patience, Request, Requester

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.adapters.github.failure import Answer
    from backproof.adapters.github.requester import Credentials

R = TypeVar("R", bound=BaseModel)

API = "https://api.github.com"
_PAGES = 100
_NEXT_PAGE = re.compile(r'<([^>]{1,2000})>;\s*rel="next"')


class GitHubClient:
    """The requests to GitHub; with `auth` None it reads public things only."""

    def __init__(self, *, auth: Credentials | None, base_url: str = API, patience: Patience | None = None) -> None:
        self.named = auth is not None
        self._requester = Requester(base_url, auth, patience or Patience())

    def get_json(self, what: str, path: str, parameters: dict[str, Any] | None = None) -> Any:
        """Return the JSON of one resource.

        Raises:
            RefusedError: GitHub refused or did not answer.
        """
        return self._requester.send(Request(what=what, verb="GET", path=path, query=parameters)).data

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
            answer = self._requester.send(Request(what=what, verb="GET", path=following, query=query))
            # A page can come twice while others write; an item counts once.
            yield from _drop_seen(_extract_list(what, answer.data, key), seen)
            match = _NEXT_PAGE.search(answer.headers.get("link", ""))
            following, query = match[1] if match else None, None
        raise RefusedError(
            what,
            why=f"the list has more than {_PAGES} pages",
            next_step="Backproof reads no more; do it by hand, or in a pull request with less on it",
        )

    def get_record(self, what: str, path: str, kind: type[R]) -> R:
        """Return the answer at a path as a record."""
        return _read_record(what, self.get_json(what, path), kind)

    def list_records(
        self, what: str, path: str, kind: type[R], *, most: int | None = None, key: str = ""
    ) -> tuple[R, ...]:
        """Return the items of a list as records, at most so many."""
        return tuple(_read_record(what, item, kind) for item in islice(self.list_items(what, path, key=key), most))

    def write(self, what: str, verb: Literal["POST", "PATCH", "DELETE"], path: str, body: object = None) -> Any:
        """Send what changes something, and return the answer: the thing as it is now.

        Raises:
            RefusedError: GitHub refused or did not answer; `lost` says whether it may have taken effect.
        """
        request = Request(what=what, verb=verb, path=path, body=body, repeatable=verb == "PATCH", again=WRITE_AGAIN)
        return self._requester.send(request).data

    def query(self, what: str, document: str, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the data of a GraphQL query. A query is a POST that changes nothing, so it may be repeated."""
        body = {"query": document, "variables": variables}
        answer = self._requester.send(Request(what=what, verb="POST", path=GRAPHQL, body=body))
        data = answer.data.get("data") if isinstance(answer.data, dict) else None
        if isinstance(answer.data, dict) and answer.data.get("errors"):
            raise _build_query_refusal(what, answer)
        if not isinstance(data, dict):
            raise _build_format_error(what)
        return data

    def get_login(self) -> str | None:
        """Return the owner of the token. REST's /user refuses the token of an App or of Actions; GraphQL's viewer does not."""
        if not self.named:
            return None
        what = "whose token this is cannot be read"
        viewer = self.query(what, "query { viewer { login } }", {}).get("viewer")
        if not isinstance(viewer, dict) or not viewer.get("login"):
            raise RefusedError(
                what, why="GitHub names nobody", next_step="set GH_TOKEN to a token of a user, an App or a job"
            )
        return str(viewer["login"])


_QUERY_STATUS = {"FORBIDDEN": 403, "INSUFFICIENT_SCOPES": 403, "NOT_FOUND": 404, "RATE_LIMITED": 429}
"""The kinds of errors inside an answer with status 200, and the status that REST has for them."""


def _build_query_refusal(what: str, answer: Answer) -> RefusedError:
    errors = [error for error in answer.data["errors"] if isinstance(error, dict)]
    status = next((_QUERY_STATUS[error["type"]] for error in errors if error.get("type") in _QUERY_STATUS), 422)
    message = "; ".join(str(error.get("message", "")) for error in errors[:3])
    return build_refusal(what, replace(answer, status=status, data={"message": message}))


def _read_record(what: str, data: object, kind: type[R]) -> R:
    with translated_errors(what):
        return kind.model_validate(data)


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
