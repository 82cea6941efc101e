"""Which kernels were launched, from which lines of which file, with the hash of those lines as they are on disk.

Line coverage is no evidence for a kernel on a device, where it is compiled; the hash of its source text is: the caller
compares it with the same lines of the git blob. The lines run from the first decorator to the last line of the body.
"""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

from backproof_target.result import make_plain

_MOST_CONSTEXPRS = 20


def bound_arguments(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name; launch options such as ``num_warps`` are not the kernel's."""
    signature = inspect.signature(function)
    own = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind_partial(*args, **own)
    bound.apply_defaults()
    return dict(bound.arguments)


class LaunchLog:
    """Counts by kernel."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[str, Any]] = {}

    def add(self, function: Any, bound: dict[str, Any]) -> None:
        name = f"{function.__module__}.{function.__qualname__}"
        entry = self._seen.get(name)
        if entry is None:
            entry = self._seen[name] = {"kernel": name, **_read_source(function), "constexprs": [], "count": 0}
        entry["count"] += 1
        values = constexpr_values(function, bound)
        if values not in entry["constexprs"] and len(entry["constexprs"]) < _MOST_CONSTEXPRS:
            entry["constexprs"].append(values)

    def records(self) -> list[dict[str, Any]]:
        return [self._seen[name] for name in sorted(self._seen)]


def constexpr_values(function: Any, bound: dict[str, Any]) -> dict[str, Any]:
    return {constexpr: make_plain(bound[constexpr]) for constexpr in _list_constexprs(function) if constexpr in bound}


def _list_constexprs(function: Any) -> list[str]:
    return [name for name, kind in getattr(function, "__annotations__", {}).items() if "constexpr" in str(kind)]


def _read_source(function: Any) -> dict[str, Any]:
    """Where the kernel stands. A kernel without a file (made by exec) has no source to compare: its hash is empty."""
    file = function.__code__.co_filename
    first = function.__code__.co_firstlineno
    try:
        last = first + len(inspect.getsourcelines(function)[0]) - 1
        with open(file, "rb") as handle:  # noqa: PTH123 - a path as the code object has it, not one of ours
            lines = handle.read().split(b"\n")
    except (OSError, TypeError):
        return {"file": file, "first_line": first, "last_line": first, "source_sha256": ""}
    text = b"\n".join(lines[first - 1 : last]) + b"\n"
    return {"file": file, "first_line": first, "last_line": last, "source_sha256": hashlib.sha256(text).hexdigest()}
