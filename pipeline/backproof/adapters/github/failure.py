"""Refusals of GitHub in three sentences, with the next step for each kind."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from github import GithubException
from pydantic import ValidationError
from requests import RequestException

from backproof.core.errors import GitHubError
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator

_SAID = 300
_AGAIN = "run the same command again"
WRITE_AGAIN = f"{_AGAIN}: nothing is posted twice"
"""The next step after a request that may have written."""
_NEXT = {
    401: "set GH_TOKEN to a token that is valid, or unset it: public things can be read without one",
    403: "give the token `pull-requests: write` on that repository, or ask its maintainers who may comment",
    404: "check the name and the number; a token that may not see a private repository gets the same answer",
    410: "it was removed, or issues are switched off there: name another pull request",
    422: "GitHub rejected the request: post comment.md by hand, and open an issue with GitHub's answer",
}
# A secondary limit can be a plain 403 with nothing but its body to tell: https://github.com/hub4j/github-api/issues/2009
_RATE_WORDS = ("rate limit", "abuse detection", "please wait a few minutes", "please retry your request again later")


class RefusedError(GitHubError):
    """A refusal with its HTTP status; 0 where no answer came."""

    def __init__(self, what: str, *, why: str, next_step: str, status: int = 0) -> None:
        super().__init__(what, why=why, next_step=next_step)
        self.status = status

    @property
    def lost(self) -> bool:
        """True where the request may have taken effect all the same: no answer, or an error of a server."""
        return self.status == 0 or self.status >= 500


@contextmanager
def translated_errors(what: str, *, again: str = _AGAIN) -> Iterator[None]:
    """Turn every failure of a request into a RefusedError.

    The cause is cut off: a traceback of a library may hold the request, its token included.
    """
    try:
        yield
    except GithubException as error:
        raise _build_refusal(what, error, again) from None
    except RequestException as error:
        # Retries that end in a 502 arrive here too, as RetryError.
        why = f"no answer: {type(error).__name__}: {_cut_message(str(error))}"
        raise RefusedError(what, why=why, next_step=f"check the network, then {again}") from None
    except ValidationError as error:
        places = ", ".join(".".join(map(str, item["loc"])) for item in error.errors()[:3])
        raise RefusedError(what, why=f"the answer lacks what it must have: {places}", next_step=again) from None
    except (ValueError, AssertionError) as error:
        why = f"the answer cannot be read: {_cut_message(str(error))}"
        raise RefusedError(what, why=why, next_step=again) from None


def _build_refusal(what: str, error: GithubException, again: str) -> RefusedError:
    message = _read_message(error)
    why, step = f"{error.status}: {message}", _NEXT.get(error.status, f"GitHub may be in trouble; wait, then {again}")
    if error.status == 429 or any(word in message.lower() for word in _RATE_WORDS):
        why, step = f"a rate limit: {message}", _format_wait(error)
    elif "locked" in message.lower():
        step = "ask a maintainer to unlock the conversation; comment.md of the run holds the text"
    return RefusedError(what, why=why, next_step=step, status=error.status)


def _format_wait(error: GithubException) -> str:
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    reset = str(headers.get("x-ratelimit-reset", ""))
    if reset.isdigit() and headers.get("x-ratelimit-remaining") == "0":
        at = datetime.fromtimestamp(int(reset), UTC).isoformat(timespec="seconds")
        return f"wait until {at}, then {_AGAIN}"
    return f"wait a few minutes, then {_AGAIN}"


def _read_message(error: GithubException) -> str:
    data: Any = error.data
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    if isinstance(data, dict):
        details = data.get("errors")
        more = f" ({json.dumps(details, ensure_ascii=False)})" if details else ""
        data = f"{data.get('message') or data.get('data') or error.message or ''}{more}"
    return _cut_message(str(data or error.message or "GitHub did not say why"))


def _cut_message(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= _SAID else f"{line[:_SAID]} …"
