"""A list of site-packages that may hold an overlay, so that the next command can undo one of a killed owner.

A folder of links; whose overlay it is, the journal in the site-packages itself says.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING

from platformdirs import user_state_path

if TYPE_CHECKING:
    from pathlib import Path


def registry_folder() -> Path:
    return user_state_path("backproof") / "open-overlays"


def register_site(site: Path) -> str:
    """Note the site; return a warning when that is not possible (the journal beside the files is the real one)."""
    link = _link_path(site)
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            link.symlink_to(site)
    except OSError as error:
        return (
            f"{link.parent}: cannot be written ({error.strerror}); after a kill, only a run on {site} itself undoes it"
        )
    return ""


def unregister_site(site: Path) -> None:
    with suppress(OSError):
        _link_path(site).unlink(missing_ok=True)


def list_sites() -> list[Path]:
    """Return the noted sites in a stable order."""
    return [path.readlink() for path in sorted(registry_folder().glob("*")) if path.is_symlink()]


def _link_path(site: Path) -> Path:
    return registry_folder() / hashlib.sha256(str(site).encode()).hexdigest()
