"""What the target may lack for a check, lent from our own installation: nothing is ever installed into it."""

from __future__ import annotations

import secrets
from importlib.util import find_spec
from pathlib import Path

CARRIED = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "pygments", "coverage")
"""Pure-python packages of ours that a target may lack; it gets them from a folder at the end of its path."""


def carried(run_folder: Path) -> Path:
    """A folder with links to the packages that a target may lack, and to nothing else of ours."""
    folder = run_folder / "carried"
    folder.mkdir(parents=True, exist_ok=True)
    for name in CARRIED:
        spec = find_spec(name)
        if spec and spec.origin:
            source = Path(spec.origin)
            _link(folder, source.parent if source.name == "__init__.py" else source)
    return folder


def _link(folder: Path, source: Path) -> None:
    """Several checks prepare at once, and a resumed run may come from another installation of ours."""
    link = folder / source.name
    if link.is_symlink() and link.readlink() == source:
        return
    staged = folder / f".{source.name}.{secrets.token_hex(4)}"
    staged.symlink_to(source)
    staged.replace(link)
