"""Whether the compiled file of a module would be used, and whether it is the code of its source."""

from __future__ import annotations

import _imp
import importlib.machinery
import importlib.util
import marshal
import os
from types import CodeType
from typing import Any

# PEP 552: 4 bytes magic, 4 bytes flags, then 4 bytes time and 4 bytes size, or 8 bytes hash of the source.
_HASHED, _CHECKED = 0b01, 0b10


def facts(spec: importlib.machinery.ModuleSpec, source: bytes) -> dict[str, Any] | None:
    """The compiled file of one module; None when its loader keeps none."""
    if not isinstance(spec.loader, importlib.machinery.SourceFileLoader) or not spec.cached or not spec.origin:
        return None
    found: dict[str, Any] = {"path": spec.cached, "kind": "absent", "used": False, "same": None, "why": ""}
    try:
        with open(spec.cached, "rb") as stream:  # noqa: PTH123 - as the import system does
            data = stream.read()
    except OSError:
        return found
    found["kind"], found["used"], found["why"] = _would_be_used(data, spec.origin, source)
    if found["used"]:
        found["same"] = _is_code_of(data[16:], source, spec.origin)
    return found


def _would_be_used(data: bytes, origin: str, source: bytes) -> tuple[str, bool, str]:
    if len(data) < 16 or data[:4] != importlib.util.MAGIC_NUMBER:
        return "foreign", False, "compiled by another interpreter"
    flags = int.from_bytes(data[4:8], "little")
    if not flags & _HASHED:
        return ("timestamp", *_by_time(data, origin))
    policy = _imp.check_hash_based_pycs
    checked = bool(flags & _CHECKED)
    kind = "checked-hash" if checked else "unchecked-hash"
    if policy == "always" or (checked and policy != "never"):
        same = data[8:16] == importlib.util.source_hash(source)
        return kind, same, "" if same else "the hash of the source differs"
    return kind, True, "never compared with its source"


def _by_time(data: bytes, origin: str) -> tuple[bool, str]:
    source = os.stat(origin)  # noqa: PTH116 - as the import system does
    if int.from_bytes(data[8:12], "little") != int(source.st_mtime) & 0xFFFFFFFF:
        return False, "the time of the source differs"
    if int.from_bytes(data[12:16], "little") != source.st_size & 0xFFFFFFFF:
        return False, "the size of the source differs"
    return True, "the time and size of the source are equal"


def _is_code_of(data: bytes, source: bytes, origin: str) -> bool:
    try:
        return bool(_code_shape(marshal.loads(data)) == _code_shape(compile(source, origin, "exec", dont_inherit=True)))  # noqa: S302
    except Exception:  # noqa: BLE001 - a damaged file: an import would fail on it
        return False


def _code_shape(value: Any) -> Any:
    """A code object as comparable data; 1, 1.0 and True stay apart, the name of the file does not count."""
    if isinstance(value, CodeType):
        lines = list(value.co_lines()) if hasattr(value, "co_lines") else value.co_lnotab
        names = (value.co_name, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars)
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        consts = tuple(_code_shape(const) for const in value.co_consts)
        return (value.co_code, names, counts, value.co_firstlineno, lines, consts)
    if isinstance(value, tuple):
        return tuple(_code_shape(item) for item in value)
    if isinstance(value, frozenset):
        return "frozenset", sorted(repr(_code_shape(item)) for item in value)
    return type(value).__name__, repr(value)
