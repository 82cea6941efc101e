"""Credentials for GitHub, from the environment alone: an option or a file would put a token where others can read it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from github import Auth
from jwt import PyJWTError
from pydantic import AwareDatetime  # noqa: TC002 - pydantic reads it

from backproof.adapters.github.failure import translated_errors
from backproof.adapters.github.pulls import GitHubRecord
from backproof.adapters.github.requester import Request
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.github.requester import Credentials, Requester

TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
APP_ID, APP_KEY, APP_INSTALLATION = "BACKPROOF_APP_ID", "BACKPROOF_APP_PRIVATE_KEY", "BACKPROOF_APP_INSTALLATION"
_MARGIN = 60
"""Seconds that clocks may differ, and that a token must still be good for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """A token as it was given."""

    value: str = field(repr=False)

    def find_token(self, requester: Requester, path: str) -> str:
        del requester, path
        return self.value


class _InstallationToken(GitHubRecord):
    token: str
    expires_at: AwareDatetime


@dataclass(kw_only=True, slots=True)
class AppInstallation:
    """An App where it is installed: its key signs for an hour's token, which then goes with the requests."""

    app: str
    key: str = field(repr=False)
    installation: str
    current: _InstallationToken | None = field(default=None, repr=False)

    def find_token(self, requester: Requester, path: str) -> str:
        own = f"/app/installations/{self.installation}/access_tokens"
        if path.endswith(own):
            return _sign_request(self.app, self.key)
        if self.current is None or self.current.expires_at.timestamp() < time.time() + _MARGIN:
            what = "the App's token cannot be had"
            answer = requester.send(Request(what=what, verb="POST", path=own))
            with translated_errors(what):
                self.current = _InstallationToken.model_validate(answer.data)
        return self.current.token


def _sign_request(app: str, key: str) -> str:
    try:
        return Auth.AppAuth(app, key).token
    except (ValueError, PyJWTError) as error:
        raise PlanError(
            f"{APP_KEY} cannot be used",
            why=f"it is no private key in PEM form: {type(error).__name__}",
            next_step="give the whole file that GitHub made for the App, with its first and last line",
        ) from None


def read_credentials(env: Mapping[str, str] | None = None) -> Credentials | None:
    """Return a token, else an App's installation, else None: anybody may read public things.

    Raises:
        PlanError: the environment names an App, but not everything that it needs.
    """
    source = os.environ if env is None else env
    token = next((source[name].strip() for name in TOKENS if source.get(name, "").strip()), None)
    if token:
        return Token(value=token)
    return _read_app(source) if source.get(APP_ID) else None


def _read_app(env: Mapping[str, str]) -> AppInstallation:
    missing = [name for name in (APP_KEY, APP_INSTALLATION) if not env.get(name)]
    if missing or not env[APP_ID].isdigit() or not env[APP_INSTALLATION].isdigit():
        raise PlanError(
            f"{APP_ID} is set, but {' and '.join(missing) if missing else 'it or its installation'} cannot be used",
            why="an App authenticates with its numeric id, its private key and the numeric id of its installation",
            next_step=f"set {APP_ID}, {APP_KEY} and {APP_INSTALLATION}, or GH_TOKEN",
        )
    return AppInstallation(app=env[APP_ID], key=env[APP_KEY], installation=env[APP_INSTALLATION])
