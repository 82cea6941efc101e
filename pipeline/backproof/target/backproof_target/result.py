"""What an answer says: bounded, whatever the target printed or raised."""

from __future__ import annotations

import math
import platform
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof_target.request import Request

SCHEMA = 2
MESSAGE = 2_000
DETAIL = 8_000
_MOST_FAULTS = 200


_GAP = "\n[...]\n"


def bound_text(text: str, most: int) -> str:
    """The start and the end of a text, and nothing in it that is no text (lone surrogates of a target's paths)."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    if len(text) <= most:
        return text
    head = (most - len(_GAP)) // 2
    return text[:head] + _GAP + text[head + len(_GAP) - most :]


def list_versions() -> dict[str, str]:
    """The distributions that something was imported from, asked of the metadata: importing to ask would change the run."""
    found = {"python": platform.python_version()}
    owners = packages_distributions()
    tops = {name.split(".", 1)[0] for name in list(sys.modules)}
    for name in sorted({owner for top in tops for owner in owners.get(top, ())}):
        try:
            found[name.lower()] = version(name)
        except PackageNotFoundError:
            continue
    return found


def blank_result(request: Request) -> dict[str, Any]:
    """A result that says nothing yet: written first, so that a process that dies leaves word of it."""
    return {
        "schema": SCHEMA,
        "nonce": request.nonce,
        "versions": {"python": platform.python_version()},
        "tests": [],
        "limits": [],
        "error": {"what": "did-not-finish", "trace": "the process ended before it could write its result"},
    }


def make_plain(value: Any) -> Any:
    """A value of the target as JSON has it, which has no NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [make_plain(item) for item in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else bound_text(str(value), MESSAGE)


def count_faults(tests: Iterable[dict[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(fault["kind"] for test in tests for fault in test["faults"]).items()))


def fault_records(faults: Iterable[Any]) -> list[dict[str, Any]]:
    """Bounded, in order: a thousand secondary errors say no more than two hundred."""
    return [fault.record() for fault in list(faults)[:_MOST_FAULTS]]
