"""Facts of a release branch: the folder of its packages, and the name of its distribution.

Its files are read through a function, from git or from GitHub. Nothing is guessed here: an unknown fact is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from backproof.history.path_filter import is_secondary
from backproof.scaffold.declared import BUILD_FILES, read_build_requires, read_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Reader = Callable[[str], str | None]

_LONGEST = 128 * 1024
"""Characters of a file that is read; a longer one is left out. The largest setup.py that was met has 20 thousand."""
_MODULES = 20
_DEEPEST = 6
"""Folders of a path that are asked about: at GitHub, each costs a request."""
_ROOTS = ("", "src", "lib", "python")
"""Folders by convention. Another one may be a namespace package, which has no __init__.py and belongs to the name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """`root` is None, `distribution` empty, where it is unknown."""

    root: str | None = None
    distribution: str = ""
    build: tuple[str, ...] = ()


def read_release(read: Reader, changed: Sequence[str]) -> Release:
    """Read the facts of a branch.

    Args:
        read: the text of a file of the branch; None where there is none.
        changed: paths that the fix changes.
    """
    texts = {name: _check_length(read(name)) for name in BUILD_FILES}
    return Release(
        root=_find_root(read, changed),
        distribution=next(filter(None, map(read_name, texts, texts.values())), ""),
        build=read_build_requires(texts["pyproject.toml"]),
    )


def _check_length(text: str | None) -> str:
    return text if text and len(text) <= _LONGEST else ""


def _find_root(read: Reader, changed: Sequence[str]) -> str | None:
    """Return the one folder that holds all packages of the change; None where there is none, or more than one."""

    @cache
    def is_package(folder: str) -> bool:
        return read(f"{folder}/__init__.py") is not None

    modules = [path for path in changed if path.endswith(".py") and not is_secondary(path)]
    roots = {_find_folder_above(path, is_package) for path in modules[:_MODULES]} - {None}
    root = roots.pop() if len(roots) == 1 else None
    return root if root in _ROOTS else None


def _find_folder_above(path: str, is_package: Callable[[str], bool]) -> str | None:
    """Return the folder above the topmost package of a module; None for a script outside of packages."""
    folders = path.split("/")[:-1][:_DEEPEST]
    if not all(map(str.isidentifier, folders)):
        return None
    depths = range(1, len(folders) + 1)
    top = next((depth for depth in depths if is_package("/".join(folders[:depth]))), None)
    return None if top is None else "/".join(folders[: top - 1])
