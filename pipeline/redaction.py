"""Takes secrets out of text before it is shown, logged or written. Errs toward masking."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MASK = "***"
_SECRET_NAME = re.compile(r"(?i)(token|secret|passw|api_?key|access_?key|private_?key|credential|auth(?!or))")
# GitHub's own prefixes: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
_TOKEN = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|hf_[A-Za-z0-9]{20,}|AKIA[0-9A-Z]{16})\b"
)
# The scheme is bounded: without that, a long word would be tried from each of its letters.
_URL_USER = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]{0,30}://)[^/\s:@]+(?::[^/\s@]*)?@", re.IGNORECASE)
_BEARER = re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9+/._~-]{16,}=*")
_SHORTEST = 6
"""A secret shorter than this would mask ordinary words all over the text."""


def secrets(env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values in the environment whose names say that they are secret, longest first."""
    source = os.environ if env is None else env
    found = {value for name, value in source.items() if _SECRET_NAME.search(name) and len(value) >= _SHORTEST}
    return tuple(sorted(found - {"true", "false"}, key=len, reverse=True))


def redact(text: str, *, env: Mapping[str, str] | None = None) -> str:
    """The text with known secret values, token shapes and user parts of URLs masked."""
    for value in secrets(env):
        text = text.replace(value, MASK)
    text = _TOKEN.sub(MASK, text)
    if "@" in text:
        text = _URL_USER.sub(rf"\g<scheme>{MASK}@", text)
    return _BEARER.sub(rf"\g<1> {MASK}", text)
