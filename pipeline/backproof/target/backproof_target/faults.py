"""The kinds of fault that the memory model knows, in the words of the device."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# A load or store outside the tensor that was handed over: what the device's transfer engine (MTE) reports.
OUT_OF_RANGE = "mte-out-of-range"
# Memory that nobody wrote was used for a result. The device reports nothing at all.
SILENT = "silent"
# An address that belongs to no allocation we know, computed without a pointer argument to blame.
UNKNOWN_POINTER = "unknown-pointer"
# Work sent to a context that an earlier fault has aborted: it names the first fault and is none of its own.
SECONDARY = "secondary"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One fault: who did it, to what, and how far off.

    ``row`` is the doer: the request row of an operator, the program of a kernel. ``index`` is what was addressed: the
    row of ``owner`` (its first dimension), negative or past the end when out of range. ``offset`` is in bytes from the
    start of the owner, ``extent`` its size in bytes.
    """

    kind: str
    task: int
    engine: str
    name: str
    text: str
    argument: str = ""
    row: int | None = None
    index: int | None = None
    owner: str = ""
    offset: int | None = None
    extent: int | None = None

    def record(self) -> dict[str, Any]:
        return asdict(self)


class DeviceFault(RuntimeError):  # noqa: N818 - a word of the device
    """The device stopped; the fault says where."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.text)
        self.fault = fault


class ContextAborted(DeviceFault):
    """Work was sent to a context that is already aborted: a secondary error, not a first fault."""


class SilentFault(DeviceFault):
    """Nothing stopped, but memory that nobody wrote was used for a result."""


class HostReadInCapture(RuntimeError):  # noqa: N818 - named after the event, as the device reports it
    """Host code wanted a value while a graph was being captured; the device refuses that, for there is no value yet."""


class Unmodelled(NotImplementedError):  # noqa: N818 - a limit, not a mistake
    """A kit's operator reference was called in a way that it does not model: no verdict can come of it."""
