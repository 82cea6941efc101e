"""Masks secrets in text that is shown, logged or written; in text that is published, also names of machines and users.

In doubt it masks.
"""

from __future__ import annotations

import getpass
import ipaddress
import os
import re
import socket
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "***"
_SECRET_NAME = re.compile(r"(?i)(token|secret|passw|api_?key|access_?key|private_?key|credential|auth(?!or))")
# GitHub's own prefixes: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
_TOKEN = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|hf_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16})\b"
    # GitHub's stateless tokens carry a JWT behind the prefix, and an App signs with one.
    r"|\b(?:gh[pousr]_[\w-]{0,40})?eyJ[\w-]{10,2000}\.[\w-]{10,4000}\.[\w-]{10,1000}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
)
# All parts are bounded: without that, a long word would be tried from each of its letters.
_URL_USER = re.compile(
    r"(?P<scheme>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://)[^/\s:@]{1,500}(?::[^/\s@]{0,2000})?@", re.IGNORECASE
)
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9+/._~-]{16,}=*")
_SHORTEST = 6
"""A secret shorter than this would mask ordinary words all over the text."""


def find_secrets(env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the values of environment variables with a secret's name, longest first."""
    source = os.environ if env is None else env
    values = {value for name, value in source.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST}
    return tuple(sorted(values, key=len, reverse=True))


def redact(text: str, *, env: Mapping[str, str] | None = None) -> str:
    """Return the text with known secret values, token shapes and user parts of URLs masked."""
    for value in find_secrets(env):
        text = text.replace(value, MASK)
    text = _TOKEN.sub(MASK, text)
    if "@" in text:
        text = _URL_USER.sub(rf"\g<scheme>{MASK}@", text)
    return _BEARER.sub(rf"\g<1> {MASK}", text)


# Names of a machine or a person. Versions (9.2.0), times (09:55:32) and C++ names (at::add) are none of these.
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\w)")
_IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-f:]*\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE)
_MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b", re.IGNORECASE)
_INTERNAL = re.compile(
    r"(?<![\w.@/-])(?:[a-z0-9-]{1,63}\.){1,8}(?:internal|intranet|local|localdomain|lan|corp|home|svc|arpa)\b(?!\.py|\()",
    re.IGNORECASE,
)
_HOMES = re.compile(
    r"(?P<root>(?:/home|/Users|/export/home|/data/home|[A-Z]:\\{1,2}Users)[/\\]{1,2})[^/\\\s:\"'`<>|,;)]+"
)
_SERIAL = re.compile(
    r"(?P<name>\b(?:serial(?:[ _-]?(?:number|num|no\.?))?|s/n|sn|v?die[ _-]?id|boot[ _-]?id|machine[ _-]?id"
    r"|chassis[ _-]?id|asset[ _-]?tag|uuid)\b\s*[:=]\s*)[A-Za-z0-9][A-Za-z0-9_-]{3,}(?:[ ][0-9A-F]{8}){0,5}",
    re.IGNORECASE,
)
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_ORDINARY = {
    "root",
    "runner",
    "user",
    "localhost",
    "docker",
    "ubuntu",
    "home",
    "worker",
    "node",
    "host",
    "test",
    "main",
}
"""Names that say nothing about anybody, and would be masked all over the text."""


def redact_for_public(text: str, *, names: Iterable[str] = (), env: Mapping[str, str] | None = None) -> str:
    """Return the text as `redact` does, and without host names, addresses, user paths and serial numbers.

    Args:
        names: host names and folders of users that the run knows.
        env: the environment; that of this process when None.
    """
    text = redact(text, env=env)
    for name in sorted({*names, *_own_names()}, key=len, reverse=True):
        if len(name) >= 4 and name.lower() not in _ORDINARY:
            text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", "HOST", text, flags=re.IGNORECASE)
    text = _SERIAL.sub(r"\g<name>SERIAL", text)
    text = _UUID.sub("SERIAL", text)
    text = _MAIL.sub(lambda match: match[0] if match[0].endswith("noreply.github.com") else "MAIL", text)
    text = _MAC.sub("ADDRESS", text)
    text = _IPV6.sub(_mask_address, text)
    text = _IPV4.sub(_mask_address, text)
    text = _INTERNAL.sub("HOST", text)
    return _HOMES.sub(r"\g<root>USER", text)


def _mask_address(match: re.Match[str]) -> str:
    try:
        address = ipaddress.ip_address(match[0])
    except ValueError:
        return match[0]
    return match[0] if address.is_loopback or address.is_unspecified else "ADDRESS"


@lru_cache(maxsize=1)
def _own_names() -> frozenset[str]:
    """Return the names of this machine and its user; a container may have neither."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0], Path.home().name}
    with suppress(KeyError, OSError):
        names.add(getpass.getuser())
    return frozenset(names)
