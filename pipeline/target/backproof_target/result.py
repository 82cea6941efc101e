"""The answer: one JSON file, whole or not at all, bounded whatever the target printed or raised."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backproof_target.request import Request

SCHEMA = 1
MESSAGE = 2_000
DETAIL = 8_000
_MOST_FAULTS = 200
_DISTRIBUTIONS = ("torch", "torch-npu", "triton", "triton-ascend", "numpy", "pytest", "coverage", "fla-npu", "vllm")


def bounded(text: str, most: int) -> str:
    """The start and the end of a text: assertion texts begin with the point, tracebacks end with it."""
    if len(text) <= most:
        return text
    gap = "\n[...]\n"
    head = (most - len(gap)) * 2 // 3
    return text[:head] + gap + text[head + len(gap) - most :]


def versions() -> dict[str, str]:
    """What is installed, asked of the metadata: importing a module to ask it would change the run."""
    found = {"python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def blank(request: Request) -> dict[str, Any]:
    """A result that says nothing yet: written first, so that a process that dies leaves word of it."""
    return {
        "schema": SCHEMA,
        "nonce": request.nonce,
        "arm": request.arm,
        "device": request.device,
        "check": request.check.id,
        "versions": versions(),
        "executable": sys.executable,
        "loaded": [],
        "tests": [],
        "faults": {},
        "launches": [],
        "reached": {},
        "reached_note": "",
        "limits": [],
        "model": None,
        "pytest_exit": None,
        "error": {"what": "did-not-finish", "trace": "the process ended before it could write its result"},
    }


def count_faults(tests: Iterable[dict[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(fault["kind"] for test in tests for fault in test["faults"]).items()))


def fault_records(faults: Iterable[Any]) -> list[dict[str, Any]]:
    """Bounded, in order: the first fault is the first scene, and a thousand echoes say no more than two hundred."""
    return [fault.record() for fault in list(faults)[:_MOST_FAULTS]]


def write(path: Path, result: dict[str, Any]) -> None:
    """Atomically: a reader finds the old result or this one."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1, sort_keys=True, allow_nan=False, default=str)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)  # noqa: PTH105 - one call, and the same on both sides
    except BaseException:
        os.unlink(temporary)  # noqa: PTH108
        raise
