"""Checks a bundle with nothing but the bundle: whole, in its one form, and saying what its own records carry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from backproof import __version__
from backproof.bundle import archive, envelope
from backproof.bundle.archive import Strange
from backproof.bundle.manifest import MANIFEST, RUN, STATEMENT, Manifest
from backproof.bundle.redacted import written
from backproof.bundle.replay import Retold, retold
from backproof.bundle.statement import statement
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

COMMENT = f"{RUN}comment.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What a bundle holds. `same_comment` is None where another version of ours drew the comment up."""

    manifest: Manifest
    told: Retold
    comment: str
    same_comment: bool | None


def check(file: Path) -> Checked:
    """Verify a bundle, offline, and draw its comment up again.

    Raises:
        HostError: it is altered, cut, hostile, or says something else than its records.
    """
    try:
        return _checked(file)
    except Strange as strange:
        raise HostError(
            f"{file}: this bundle does not verify",
            why=str(strange),
            next_step="use nothing of it; ask for it again, and compare the SHA-256 of the file with its maker's",
        ) from strange


def _checked(file: Path) -> Checked:
    files = archive.read(envelope.opened(file), most=envelope.MOST_FILES)
    manifest = _manifest(files)
    _must_be_listed(manifest, files)
    told = retold(manifest, files)
    if written(statement(told, manifest)) != files.get(STATEMENT):
        raise Strange(f"{STATEMENT} is not what the records of the bundle carry")
    return Checked(
        manifest=manifest, told=told, comment=_comment(told, manifest, files), same_comment=_is_our_version(manifest)
    )


def _manifest(files: Mapping[str, bytes]) -> Manifest:
    if MANIFEST not in files:
        raise Strange(f"it has no {MANIFEST}")
    try:
        return Manifest.model_validate_json(files[MANIFEST])
    except ValidationError as error:
        first = error.errors()[0]
        raise Strange(f"{MANIFEST}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def _must_be_listed(manifest: Manifest, files: Mapping[str, bytes]) -> None:
    """Every file is in the manifest once, with its hash, and the manifest names no other."""
    listed = {each.path: each for each in manifest.files}
    if len(listed) != len(manifest.files):
        raise Strange("the manifest names a file twice")
    if strange := sorted((set(files) - {MANIFEST}) ^ set(listed)):
        raise Strange(f"the manifest and the files differ: {', '.join(strange[:5])}")
    for path, entry in listed.items():
        if hashlib.sha256(files[path]).hexdigest() != entry.sha256 or len(files[path]) != entry.size:
            raise Strange(f"{path} is not the file that the manifest names")
        if not entry.redacted and entry.original_sha256 not in (None, entry.sha256):
            raise Strange(f"{path} differs from its original, and is not said to be redacted")


def _is_our_version(manifest: Manifest) -> bool | None:
    return True if manifest.tool == f"backproof {__version__}" else None


def _comment(told: Retold, manifest: Manifest, files: Mapping[str, bytes]) -> str:
    """Drawn up again; of our own version it must come out to the byte."""
    again = told.comment
    if _is_our_version(manifest) and again.encode() != files.get(COMMENT):
        raise Strange(f"{COMMENT} is not what the records of the bundle give")
    return again
