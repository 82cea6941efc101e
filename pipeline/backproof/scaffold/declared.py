"""What the files of a build say literally. They are text of somebody else: parsed within bounds, never run."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

# https://packaging.python.org/en/latest/specifications/name-normalization/
_NAME = re.compile(r"[A-Z0-9](?:[A-Z0-9._-]{0,98}[A-Z0-9])?", re.IGNORECASE | re.ASCII)
_REQUIRED = re.compile(rf"\s*(?P<name>{_NAME.pattern})\s*(?:[\[(<>=!~;@,].*)?", re.IGNORECASE | re.ASCII | re.DOTALL)
_MOST = 100
_DOTS = 200
"""In one line of TOML: tomllib takes time by the square of the parts of a dotted key, minutes for a hostile one."""
_UNREADABLE = (ValueError, SyntaxError, RecursionError, MemoryError, configparser.Error)
"""What parsers raise over text that is broken, or nested as no person would."""


def normal(name: object) -> str:
    """The name of a distribution as an index has it; empty where it is none."""
    return re.sub(r"[-_.]+", "-", name).lower() if isinstance(name, str) and _NAME.fullmatch(name) else ""


def name_in(file: str, text: str) -> str:
    """The name that a file of the build gives literally."""
    with suppress(*_UNREADABLE):
        return normal(_READERS[file](text))
    return ""


def build_requires(pyproject: str) -> tuple[str, ...]:
    """Names of what the build wants."""
    with suppress(*_UNREADABLE):
        listed = _at(_toml(pyproject), "build-system", "requires")
        found = (_REQUIRED.fullmatch(each) for each in listed[:_MOST] if isinstance(each, str))
        return tuple(dict.fromkeys(normal(each["name"]) for each in found if each))
    return ()


def _toml(text: str) -> dict[str, Any]:
    if any(each.count(".") > _DOTS for each in text.splitlines()):
        raise ValueError("a key of so many parts is no person's")
    return tomllib.loads(text)


def _at(data: Any, *keys: str) -> Any:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data or []


def _in_pyproject(text: str) -> object:
    data = _toml(text)
    return _at(data, "project", "name") or _at(data, "tool", "poetry", "name")


def _in_setup_cfg(text: str) -> object:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    parser.read_string(text)
    found: object = parser.get("metadata", "name", fallback=None)
    return found


def _in_setup_py(text: str) -> object:
    """The literal name of the one call of setup; of two that differ, neither."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not our code that would be warned of
        tree = ast.parse(text)
    calls = (each for each in ast.walk(tree) if isinstance(each, ast.Call))
    names = {
        each.value.value
        for call in calls
        if _called(call.func) == "setup"
        for each in call.keywords
        if each.arg == "name" and isinstance(each.value, ast.Constant)
    }
    return names.pop() if len(names) == 1 else None


def _called(function: ast.expr) -> str:
    found: str = getattr(function, "attr", "") or getattr(function, "id", "")
    return found


_READERS: Final[dict[str, Callable[[str], object]]] = {
    "pyproject.toml": _in_pyproject,
    "setup.cfg": _in_setup_cfg,
    "setup.py": _in_setup_py,
}
BUILD_FILES = tuple(_READERS)
