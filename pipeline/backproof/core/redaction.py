"""Masks secrets in text that is shown, logged or written; in text that is published, also names of machines and users.

In doubt it masks.
"""

from __future__ import annotations

import functools
import getpass
import ipaddress
import os
import re
import socket
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.core import detector
from backproof.core.secret_shapes import mask_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MASK = "***"
_SECRET_NAME = re.compile(r"(?i)(token|secret|passw|api_?key|access_?key|private_?key|credential|auth(?!or))")
_SECRET_KEY = re.compile(r"(?i)(?:^|_|-)(?:token|secret|password|passwd|api_?key|private_?key|credentials?)$")
_SHORTEST = 6
"""A secret shorter than this would mask ordinary words all over the text."""


def names_secret(name: str) -> bool:
    """Return whether a variable or a key of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


def find_secrets(env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Return the values of environment variables with a secret's name, longest first."""
    source = os.environ if env is None else env
    values = {value for name, value in source.items() if names_secret(name) and len(value) >= _SHORTEST}
    return tuple(sorted(values, key=len, reverse=True))


def redact(text: str, *, env: Mapping[str, str] | None = None) -> str:
    """Return the text with known secret values and what has the shape of a secret masked."""
    return _mask_values(text, find_secrets(env))


def _mask_values(text: str, values: Sequence[str]) -> str:
    for value in values:
        text = text.replace(value, MASK)
    return mask_shapes(text, MASK)


def redact_written(text: str) -> str:
    """Return a text of others as it may stay on a disk: as `redact`, and by the rules of kingfisher where it is installed."""
    text = redact(text)
    for secret in detector.list_secrets(text):
        text = text.replace(secret, MASK)
    return text


def redact_json(value: Any, mask: Callable[[str], str] | None = None) -> Any:
    """Return a value of JSON with each text in it masked, and what a key or the option before it calls a secret."""
    mask = mask or functools.partial(_mask_values, values=find_secrets())
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        before = ["", *value]
        return [
            MASK if _is_secret_option(name, item) else redact_json(item, mask)
            for name, item in zip(before, value, strict=False)
        ]
    if isinstance(value, dict):
        return {
            mask(key): MASK if item and isinstance(item, str) and _SECRET_KEY.search(key) else redact_json(item, mask)
            for key, item in value.items()
        }
    return value


def _is_secret_option(name: object, value: object) -> bool:
    """Return whether a word follows an option like `--api-key`: such a pair is masked as one text."""
    return (
        isinstance(name, str)
        and isinstance(value, str)
        and name[:1] == "-"
        and redact(f"{name} {value}", env={}).endswith(f" {MASK}")
    )


# Names of a machine or a person. Versions (9.2.0), times (09:55:32) and C++ names (at::add) are none of these.
_IPV4 = re.compile(r"(?<![A-Za-z0-9.])(?:\d{1,3}\.){3}\d{1,3}(?![A-Za-z0-9]|\.[A-Za-z0-9])")
_IPV6 = re.compile(
    r"(?<![A-Za-z0-9:.])(?=[0-9a-f:]*\d)(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}(?![A-Za-z0-9:])", re.IGNORECASE
)
_MAC = re.compile(r"(?<![\w:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-])", re.IGNORECASE)
_MAIL = re.compile(r"[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[a-z]{2,24}\b", re.IGNORECASE)
_INTERNAL = re.compile(
    r"(?<![\w.@/-])(?:[a-z0-9-]{1,63}\.){1,8}(?:internal|intranet|local|localdomain|lan|corp|home|svc|arpa)\b(?!\.py|\()",
    re.IGNORECASE,
)
_PLACES = "models?|datasets?|data|weights|ckpts?|checkpoints|cache|caches|logs?|tmp|share|shared|home|vllm|ascend|USER|HOST|ADDRESS"
"""Folders below a mount that are nobody's."""
_HOMES = re.compile(
    r"(?P<root>(?:/home|/Users|/export/home|(?<![\w./-])/(?:mnt|data|nas|nfs|share|shared|scratch|disk)\d{0,3}(?:/home)?"
    r"|/data/home|[A-Z]:\\{1,2}Users)[/\\]{1,2})(?!(?:" + _PLACES + r")\b)[^/\\\s:\"'`<>|,;)]+"
)
_SERIAL = re.compile(
    r"(?P<name>(?:\b(?:serial(?:[ _-]?(?:number|num|no\.?))?|s/n|sn|v?die[ _-]?id|boot[ _-]?id|machine[ _-]?id|board[ _-]?id"
    r"|chassis[ _-]?id|asset[ _-]?tag|uuid)\b|序列号|资产编号|机器码)[\"']?\s*[:=：]\s*[\"']?)"
    r"[A-Za-z0-9][A-Za-z0-9_-]{3,}(?:[ ][0-9A-F]{8}){0,5}",
    re.IGNORECASE,
)
_HOST_NAMED = re.compile(
    r"(?P<name>(?:\b(?:hostname|node[_ -]?name|machine[_ -]?name|server[_ -]?name)\b|主机名?|节点名?|服务器)[\"']?\s*[:=：]\s*[\"']?)"
    r"(?!(?:HOST|ADDRESS|localhost|true|false|null|none)\b)[A-Za-z0-9][\w.-]{2,}",
    re.IGNORECASE | re.ASCII,
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
    text = _HOST_NAMED.sub(r"\g<name>HOST", text)
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
