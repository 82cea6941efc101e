"""Names that the files of a build give literally. They are hostile text: parsed within bounds, never run."""

from __future__ import annotations

import ast
import configparser
import tomllib
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidName, canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 100
_DOTS = 200
"""In one line of TOML: tomllib takes time by the square of the parts of a dotted key, minutes for a hostile one."""
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error)
"""Errors of parsers over text that is broken, or nested as no person would."""


def normalize_name(name: object) -> str:
    """Return the name of a distribution as an index has it; empty where it is none."""
    with suppress(InvalidName):
        return canonicalize_name(name, validate=True) if isinstance(name, str) and len(name) <= _MOST else ""
    return ""


def read_name(file: str, text: str) -> str:
    """Return the name that a file of the build gives literally; empty where it gives none."""
    with suppress(*_UNREADABLE):
        return normalize_name(_READERS[file](text))
    return ""


def read_build_requires(pyproject: str) -> tuple[str, ...]:
    """Return the names of the distributions that the build asks for."""
    with suppress(*_UNREADABLE):
        listed = _get_key(_parse_toml(pyproject), "build-system", "requires")
        names = map(_read_requirement, listed[:_MOST])
        return tuple(dict.fromkeys(name for name in names if name))
    return ()


def _read_requirement(text: object) -> str:
    with suppress(InvalidRequirement):
        return normalize_name(Requirement(text).name) if isinstance(text, str) else ""
    return ""


def _parse_toml(text: str) -> dict[str, Any]:
    if any(line.count(".") > _DOTS for line in text.splitlines()):
        raise ValueError("a key has too many parts")
    return tomllib.loads(text)


def _get_key(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data or []


def _read_pyproject(text: str) -> object:
    data = _parse_toml(text)
    return _get_key(data, "project", "name") or _get_key(data, "tool", "poetry", "name")


def _read_setup_cfg(text: str) -> object:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    name: object = parser.get("metadata", "name", fallback=None)
    return name


def _read_setup_py(text: str) -> object:
    """Return the literal name of the one call of setup; of two that differ, neither."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the file is not Backproof's
        tree = ast.parse(text)
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = {
        keyword.value.value
        for call in calls
        if _name_of(call.func) == "setup"
        for keyword in call.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    }
    return names.pop() if len(names) == 1 else None


def _name_of(function: ast.expr) -> str:
    name: str = getattr(function, "attr", "") or getattr(function, "id", "")
    return name


_READERS: Final[dict[str, Callable[[str], object]]] = {
    "pyproject.toml": _read_pyproject,
    "setup.cfg": _read_setup_cfg,
    "setup.py": _read_setup_py,
}
BUILD_FILES = tuple(_READERS)
