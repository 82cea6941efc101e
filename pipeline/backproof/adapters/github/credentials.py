"""Credentials for GitHub, from the environment alone: an option or a file would put a token where others can read it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from github import Auth

from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
APP_ID, APP_KEY, APP_INSTALLATION = "BACKPROOF_APP_ID", "BACKPROOF_APP_PRIVATE_KEY", "BACKPROOF_APP_INSTALLATION"


def read_credentials(env: Mapping[str, str] | None = None) -> Auth.Auth | None:
    """Return a token, else an App's installation, else None: anybody may read public things.

    Raises:
        PlanError: the environment names an App, but not everything that it needs.
    """
    source = os.environ if env is None else env
    token = next((source[name].strip() for name in TOKENS if source.get(name, "").strip()), None)
    if token:
        return Auth.Token(token)
    return _read_app(source) if source.get(APP_ID) else None


def _read_app(env: Mapping[str, str]) -> Auth.Auth:
    missing = [name for name in (APP_KEY, APP_INSTALLATION) if not env.get(name)]
    if missing or not env[APP_ID].isdigit() or not env[APP_INSTALLATION].isdigit():
        raise PlanError(
            f"{APP_ID} is set, but {' and '.join(missing) if missing else 'it or its installation'} cannot be used",
            why="an App authenticates with its numeric id, its private key and the numeric id of its installation",
            next_step=f"set {APP_ID}, {APP_KEY} and {APP_INSTALLATION}, or GH_TOKEN",
        )
    return Auth.AppAuth(int(env[APP_ID]), env[APP_KEY]).get_installation_auth(int(env[APP_INSTALLATION]))
