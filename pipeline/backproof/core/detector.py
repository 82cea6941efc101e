"""The rules of kingfisher, a maintained detector of secrets; an extra (`backproof[secrets]`): without it ours serve alone.

It reads text in this process and asks nobody: whether a secret is still valid is never looked up.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kingfisher_sdk import Scanner

_SHORTEST = 16
"""No rule of it is about shorter ones, and a run has many short texts."""


def list_secrets(text: str) -> Iterator[str]:
    """Yield what it takes for a secret in a text."""
    if len(text) < _SHORTEST or (scanner := _open_scanner()) is None:
        return
    for finding in scanner.scan(text.encode("utf-8", "replace")):
        if finding.secret and len(finding.secret) >= _SHORTEST // 2:
            yield finding.secret


@functools.cache
def _open_scanner() -> Scanner | None:
    try:
        from kingfisher_sdk import Scanner  # noqa: PLC0415 - it takes half a second, and only who writes needs it
    except ImportError:
        return None
    return Scanner()
