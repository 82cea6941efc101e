"""Refusals of GitHub in three sentences, with the next step for each kind."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final

from pydantic import ValidationError

from backproof.core.errors import GitHubError
from backproof.core.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SAID = 300
AGAIN = "run the same command again"
WRITE_AGAIN = f"{AGAIN}: nothing is posted twice"
"""The next step after a request that may have written."""
_NEXT: Final = {
    301: "the repository was renamed or moved: name it as it is called now",
    401: "set GH_TOKEN to a token that is valid, or unset it: public things can be read without one",
    403: "give the token `pull-requests: write` on that repository, or ask its maintainers who may comment",
    404: "check the name and the number; a token that may not see a private repository gets the same answer",
    410: "it was removed, or issues are switched off there: name another pull request",
    422: "GitHub rejected the request: post comment.md by hand, and open an issue with GitHub's answer",
    451: "GitHub has closed this repository for legal reasons: nothing can be posted there",
}
_BY_WORDS: Final = (
    ("is locked", "ask a maintainer to unlock the conversation; comment.md of the run holds the text"),
    ("archived", "the repository is archived and takes nothing more: post comment.md where its maintainers work now"),
    ("blocked", "this account is blocked there: use another one, or let somebody else post comment.md"),
    ("ip allow list", "the organisation admits only known addresses: publish from a runner that has one of them"),
    ("saml", "authorise the token for the organisation: GitHub, Settings, Tokens, Configure SSO"),
    (
        "resource not accessible by integration",
        "give the job or the App the permission: `pull-requests: write`, and `checks: write` or `statuses: write` for a check",
    ),
    (
        "resource not accessible by personal access token",
        "give the token `pull-requests: write` there; for somebody else's public repository a classic one with `public_repo`",
    ),
)
"""The words of a 403, and what helps: one status stands for many reasons."""
# A secondary limit can be a plain 403 with nothing but its body to tell: https://github.com/hub4j/github-api/issues/2009
_RATE_WORDS: Final = (
    "rate limit",
    "abuse detection",
    "please wait a few minutes",
    "please retry your request again later",
)
_SECONDARY: Final = 60.0
"""Seconds to wait where a limit does not say for how long: what GitHub's documentation asks for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back: JSON, or text where it is none; `failure` where nothing came, or what cannot be read."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    data: Any = None
    failure: str = ""

    @property
    def is_lost(self) -> bool:
        """True where the request may have taken effect all the same: no answer, half of one, or an error of a server."""
        return bool(self.failure) or self.status >= 500


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
def translated_errors(what: str) -> Iterator[None]:
    """Turn an answer that is not what GitHub documents into a RefusedError."""
    try:
        yield
    except ValidationError as error:
        places = ", ".join(".".join(map(str, item["loc"])) for item in error.errors()[:3])
        raise RefusedError(what, why=f"the answer lacks what it must have: {places}", next_step=AGAIN) from None


def build_refusal(what: str, answer: Answer, again: str = AGAIN) -> RefusedError:
    """Return what GitHub refused, why, and what helps. The cause is cut off: a library's traceback may hold the token."""
    if answer.failure:
        return RefusedError(what, why=answer.failure, next_step=f"check the network, then {again}")
    message = _read_message(answer.data)
    why, step = f"{answer.status}: {message}", _NEXT.get(answer.status, f"GitHub may be in trouble; wait, then {again}")
    if read_limit(answer) is not None:
        why, step = f"a rate limit: {message}", _format_wait(answer.headers)
    elif answer.status == 403:
        words = f"{message} {answer.headers.get('x-github-sso', '') and 'saml'}".lower()
        step = next((advice for word, advice in _BY_WORDS if word in words), step)
    return RefusedError(what, why=why, next_step=step, status=answer.status)


def explain_silence(error: Exception) -> str:
    return f"no answer: {type(error).__name__}: {_cut_message(str(error))}"


def read_limit(answer: Answer) -> float | None:
    """Return the seconds after which a rate limit lets the request through; None where no limit refused it."""
    words = _read_message(answer.data).lower() if answer.status in {403, 429} else ""
    asks_to_wait = answer.status in {403, 503} and "retry-after" in answer.headers
    if not (answer.status == 429 or asks_to_wait or any(word in words for word in _RATE_WORDS)):
        return None
    if (seconds := _read_retry_after(answer.headers.get("retry-after", ""))) is not None:
        return seconds
    reset = _read_reset(answer.headers)
    return max(0.0, reset - time.time()) if reset else _SECONDARY


def _read_retry_after(text: str) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date; None for anything else."""
    if re.fullmatch(r"\d{1,9}", text.strip()):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _read_reset(headers: Mapping[str, str]) -> int:
    """Return when the hourly limit begins anew, in seconds of the epoch; 0 where it is not what refused."""
    reset = headers.get("x-ratelimit-reset", "")
    return int(reset) if re.fullmatch(r"\d{1,12}", reset) and headers.get("x-ratelimit-remaining") == "0" else 0


def _format_wait(headers: Mapping[str, str]) -> str:
    if reset := _read_reset(headers):
        at = datetime.fromtimestamp(reset, UTC).isoformat(timespec="seconds")
        return f"wait until {at}, then {AGAIN}"
    return f"wait a few minutes, then {AGAIN}"


def _read_message(data: Any) -> str:
    if isinstance(data, dict):
        details = data.get("errors")
        more = f" ({json.dumps(details, ensure_ascii=False)})" if details else ""
        data = f"{data.get('message') or ''}{more}"
    return _cut_message(str(data or "GitHub did not say why"))


def _cut_message(text: str) -> str:
    line = " ".join(redact(text).split())
    return line if len(line) <= _SAID else f"{line[:_SAID]} …"
