"""What the release branch says of itself: where its packages lie, and what its distribution is called.

Its files are read through a function, from git or from GitHub. Nothing is guessed here: what cannot be told is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from backproof.history.path_filter import is_secondary
from backproof.scaffold.declared import BUILD_FILES, build_requires, name_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Reader = Callable[[str], str | None]

LONGEST = 128 * 1024
"""Characters of a file that is read; a longer one says nothing. The largest setup.py that we met has 20 thousand."""
_MODULES = 20
_DEEPEST = 6
"""Folders of a path that are asked about: at GitHub, each costs a request."""
_ROOTS = ("", "src", "lib", "python")
"""Folders by convention. Another one may be a namespace package, which has no __init__.py and belongs to the name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """`root` is None, `distribution` empty, where it cannot be told."""

    root: str | None = None
    distribution: str = ""
    build: tuple[str, ...] = ()


def read_release(read: Reader, changed: Sequence[str]) -> Release:
    """Read what a branch says.

    Args:
        read: the text of a file of the branch; None where there is none.
        changed: paths that the fix changes.
    """
    texts = {name: _bounded(read(name)) for name in BUILD_FILES}
    return Release(
        root=_root(read, changed),
        distribution=next((found for name, text in texts.items() if (found := name_in(name, text))), ""),
        build=build_requires(texts["pyproject.toml"]),
    )


def _bounded(text: str | None) -> str:
    return text if text and len(text) <= LONGEST else ""


def _root(read: Reader, changed: Sequence[str]) -> str | None:
    """The one folder that holds all packages of the change; None where there is none, or more than one."""

    @cache
    def is_package(folder: str) -> bool:
        return read(f"{folder}/__init__.py") is not None

    modules = [each for each in changed if each.endswith(".py") and not is_secondary(each)]
    found = {_above(each, is_package) for each in modules[:_MODULES]} - {None}
    root = found.pop() if len(found) == 1 else None
    return root if root in _ROOTS else None


def _above(path: str, is_package: Callable[[str], bool]) -> str | None:
    """The folder above the topmost package that a module lies in; None for a script outside of packages."""
    folders = path.split("/")[:-1][:_DEEPEST]
    if not all(each.isidentifier() for each in folders):
        return None
    depths = range(1, len(folders) + 1)
    top = next((depth for depth in depths if is_package("/".join(folders[:depth]))), None)
    return None if top is None else "/".join(folders[: top - 1])
