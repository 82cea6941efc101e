"""A list of site-packages that may hold an overlay, so that the next command can undo one of a killed owner."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path
from pydantic import ValidationError

from backproof.core.model import Record
from backproof.rundir.ledger import write_atomic


class OpenOverlay(Record):
    """open-overlays/<hash of the path>.json."""

    site: str
    owner: str


def registry_folder() -> Path:
    return user_state_path("backproof") / "open-overlays"


def register_site(site: Path, owner: str) -> str:
    """Note the site; return a warning when that is not possible (the journal beside the files is the real one)."""
    try:
        write_atomic(_record_path(site), OpenOverlay(site=str(site), owner=owner).model_dump_json().encode())
    except OSError as error:
        return f"{registry_folder()}: cannot be written ({error.strerror}); after a kill, only a run on {site} itself undoes it"
    return ""


def unregister_site(site: Path) -> None:
    with suppress(OSError):
        _record_path(site).unlink(missing_ok=True)


def list_sites(*, owner: str | None = None) -> list[Path]:
    """Return the noted sites (of one owner), in a stable order; a note that cannot be read is removed."""
    paths: list[Path] = []
    for path in sorted(registry_folder().glob("*.json")):
        try:
            note = OpenOverlay.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            with suppress(OSError):
                path.unlink()
            continue
        if owner in (None, note.owner):
            paths.append(Path(note.site))
    return paths


def _record_path(site: Path) -> Path:
    return registry_folder() / f"{hashlib.sha256(str(site).encode()).hexdigest()}.json"
