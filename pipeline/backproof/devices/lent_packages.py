"""The packages that a check needs and a target may lack, lent from Backproof's own installation: nothing is installed."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path

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


def _link(folder: Path, source: Path) -> None:
    """Link atomically: several checks prepare at once, and a resumed run may come from another installation."""
    link = folder / source.name
    if link.is_symlink() and link.readlink() == source:
        return
    staged = folder / f".{source.name}.{secrets.token_hex(4)}"
    staged.symlink_to(source)
    staged.replace(link)
