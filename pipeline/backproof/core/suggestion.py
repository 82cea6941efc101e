"""The end of a message about an unknown name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` with the closest known name, or nothing when none is close."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
