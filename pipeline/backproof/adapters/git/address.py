"""Addresses of repositories: a password in one goes to git by another way, and stands nowhere else."""

from __future__ import annotations

import base64
import os
from urllib.parse import unquote, urlsplit, urlunsplit


def take_password(address: str) -> str:
    """Return the address without its password, which git gets from this process's environment from now on.

    Neither a record, nor a list of processes, nor git's own configuration then has it; code under test gets no such variable.
    """
    parts = urlsplit(address)
    if parts.scheme not in {"http", "https"} or "@" not in parts.netloc:
        return address
    user, _, host = parts.netloc.rpartition("@")
    plain = urlunsplit(parts._replace(netloc=host))
    name, _, password = user.partition(":")
    login = base64.b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    _add_setting(f"http.{plain}.extraHeader", f"Authorization: Basic {login}")
    return plain


def _add_setting(key: str, value: str) -> None:
    """Add one to the settings that git reads from its environment (git-config(1), GIT_CONFIG_COUNT)."""
    count = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    have = {os.environ.get(f"GIT_CONFIG_KEY_{at}"): at for at in range(count)}
    at = have.get(key, count)
    os.environ[f"GIT_CONFIG_KEY_{at}"], os.environ[f"GIT_CONFIG_VALUE_{at}"] = key, value
    os.environ["GIT_CONFIG_COUNT"] = str(max(count, at + 1))
