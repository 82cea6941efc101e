"""One call of compiled code in a process of its own: it may crash, hang, and keep its variables to itself."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import TYPE_CHECKING, Any, ClassVar

from backproof_target.operator_build import SourceUnusable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    _Fields = Sequence[tuple[str, Any] | tuple[str, Any, int]]

KINDS = ("mte-out-of-range", "silent", "local-memory", "alignment", "event", "race", "hang", "tiling", "advice")
"""As ``Kind`` in ``ascendc/model.h`` has them; "silent" is memory that nobody wrote."""
PATIENCE = 120
"""Seconds for one launch: a kernel that takes longer does not end."""
_MOST_FINDINGS = 64
_DIMENSIONS = 8


class Region(ctypes.Structure):
    """One operand in memory."""

    _fields_: ClassVar[_Fields] = (
        ("name", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
        ("row_bytes", ctypes.c_int64),
        ("rows", ctypes.c_int64),
        ("state", ctypes.c_void_p),
        ("writable", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    )


class Finding(ctypes.Structure):
    """One finding, with the line of the kernel's source."""

    _fields_: ClassVar[_Fields] = (
        *((name, ctypes.c_int32) for name in ("kind", "core", "line", "element_bytes")),
        *((name, ctypes.c_int64) for name in ("row", "offset", "bytes", "extent")),
        ("address", ctypes.c_uint64),
        ("file", ctypes.c_char * 64),
        ("call", ctypes.c_char * 24),
        ("tensor", ctypes.c_char * 32),
        ("text", ctypes.c_char * 192),
    )


class Report(ctypes.Structure):
    """What one launch found."""

    _fields_: ClassVar[_Fields] = (
        ("counts", ctypes.c_int32 * len(KINDS)),
        ("findings", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        *((name, ctypes.c_int64) for name in ("bytes_in", "bytes_out", "calls")),
        ("found", Finding * _MOST_FINDINGS),
    )


class Chip(ctypes.Structure):
    """What differs from chip to chip."""

    _fields_: ClassVar[_Fields] = (
        ("local_memory", ctypes.c_int64),
        ("allocation_unit", ctypes.c_int64),
        ("cores", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    )


class GivenOperand(ctypes.Structure):
    """One operand as the host's tiling function sees it."""

    _fields_: ClassVar[_Fields] = (
        *((name, ctypes.c_int64) for name in ("given", "dimensions", "type")),
        ("sizes", ctypes.c_int64 * _DIMENSIONS),
        ("steps", ctypes.c_int64 * _DIMENSIONS),
        ("strided", ctypes.c_int64),
        ("host", ctypes.c_void_p),
    )


class MadeTiling(ctypes.Structure):
    """The host's answer."""

    _fields_: ClassVar[_Fields] = (
        *((name, ctypes.c_int64) for name in ("bytes", "blocks", "key", "workspace")),
        ("data", ctypes.c_uint8 * 16384),
        ("text", ctypes.c_char * 4096),
    )


def call_apart(library: Path, call: Callable[[Any], bytes]) -> bytes:
    """Return what ``call`` gives for the loaded library, from a process of its own.

    Raises:
        SourceUnusable: the process crashed.
        TimeoutError: it did not end in time.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        _answer(library, call, writer)
    os.close(writer)
    with open(reader, "rb") as stream:  # noqa: PTH123 - a descriptor
        answer = stream.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        raise TimeoutError(f"the compiled code did not end in {PATIENCE} s")
    if status:
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"code {os.WEXITSTATUS(status)}"
        raise SourceUnusable(f"the compiled operator crashed ({how})")
    return answer


def _answer(library: Path, call: Callable[[Any], bytes], writer: int) -> None:
    code = 1
    try:
        signal.alarm(PATIENCE)
        with open(writer, "wb") as stream:
            stream.write(call(ctypes.CDLL(str(library))))
        code = 0
    finally:
        os._exit(code)
