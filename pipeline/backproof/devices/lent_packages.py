"""The packages that a check needs and a target may lack, lent from Backproof's own installation: nothing is installed."""

from __future__ import annotations

import secrets
from importlib.metadata import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet

from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.install.interpreter import InterpreterFacts

LENT = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
"""Pure Python (coverage can do without its C module): a target of another version of Python can import them."""


def link_packages(run_folder: Path) -> Path:
    """Make a folder with links to these packages and to nothing else; it goes to the end of the target's path."""
    folder = run_folder / "carried"
    folder.mkdir(parents=True, exist_ok=True)
    for name in LENT:
        spec = find_spec(name)
        if spec and spec.origin:
            source = Path(spec.origin)
            _link(folder, source.parent if source.name == "__init__.py" else source)
    return folder


def require_lendable(python: InterpreterFacts) -> None:
    """Check that the target can import what it lacks of these packages.

    Raises:
        PlanError: its Python is older than they support; nothing was run.
    """
    for name in python.lacks:
        lent = metadata(name)
        supported = lent["Requires-Python"] or ""
        if not SpecifierSet(supported).contains(python.version, prereleases=True):
            raise PlanError(
                f"{python.executable}: Python {python.version} is too old for the checks",
                why=f"it has no {name}, and the {name} {lent['Version']} that Backproof would lend it needs Python {supported}",
                next_step=f"install {name} into that environment, or name an interpreter of a newer Python with --python",
            )


def _link(folder: Path, source: Path) -> None:
    """Link atomically: several checks prepare at once, and a resumed run may come from another installation."""
    link = folder / source.name
    if link.is_symlink() and link.readlink() == source:
        return
    staged = folder / f".{source.name}.{secrets.token_hex(4)}"
    staged.symlink_to(source)
    staged.replace(link)
