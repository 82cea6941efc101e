"""Checks a bundle with nothing but the bundle: whole, in its one form, and saying what its own records carry."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.bundle.archive import InvalidBundleError, read_archive
from backproof.bundle.envelope import MOST_FILES, open_sealed
from backproof.bundle.manifest import MANIFEST, RUN, STATEMENT, Manifest
from backproof.bundle.redacted import encode_json, encode_manifest
from backproof.bundle.replay import ReplayedRun, read_record, replay_run
from backproof.bundle.statement import build_statement
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

COMMENT = f"{RUN}comment.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedBundle:
    """A bundle that verifies, and its comment, written again from its records.

    Args:
        same_comment: the bundle's own comment is the same; False where another version of Backproof wrote it.
    """

    manifest: Manifest
    replayed: ReplayedRun
    comment: str
    same_comment: bool


def verify_bundle(file: Path) -> VerifiedBundle:
    """Verify a bundle offline, and write its comment again.

    Raises:
        PlanError: it is no regular file.
        HostError: it is altered, cut, hostile, or says something else than its records.
    """
    try:
        return _verify(file)
    except InvalidBundleError as error:
        raise HostError(
            f"{file}: this bundle does not verify",
            why=str(error),
            next_step="use nothing of it; ask for it again, and compare the SHA-256 of the file with its maker's",
        ) from error


def _verify(file: Path) -> VerifiedBundle:
    files = read_archive(open_sealed(file), most=MOST_FILES)
    manifest = read_record(files, MANIFEST, Manifest)
    if encode_manifest(manifest) != files[MANIFEST]:
        raise InvalidBundleError(f"{MANIFEST} is not in the one form that a bundle has")
    _check_listing(manifest, files)
    replayed = replay_run(manifest, files)
    if manifest.run != replayed.recorded.id:
        raise InvalidBundleError("the manifest names another run than run.json")
    if encode_json(build_statement(replayed, manifest)) != files.get(STATEMENT):
        raise InvalidBundleError(f"{STATEMENT} is not what the records of the bundle carry")
    # The comment of another version may have other words; that of this one must come out to the byte.
    comment, is_own = replayed.comment, manifest.tool == f"backproof {__version__}"
    if is_own and comment.encode() != files.get(COMMENT):
        raise InvalidBundleError(f"{COMMENT} is not what the records of the bundle give")
    return VerifiedBundle(manifest=manifest, replayed=replayed, comment=comment, same_comment=is_own)


def _check_listing(manifest: Manifest, files: Mapping[str, bytes]) -> None:
    """Every file is in the manifest once, with its hash, and the manifest names no other."""
    listed = {entry.path: entry for entry in manifest.files}
    if len(listed) != len(manifest.files):
        raise InvalidBundleError("the manifest names a file twice")
    if difference := sorted((set(files) - {MANIFEST}) ^ set(listed)):
        raise InvalidBundleError(f"the manifest and the files differ: {', '.join(difference[:5])}")
    for path, entry in listed.items():
        if hashlib.sha256(files[path]).hexdigest() != entry.sha256 or len(files[path]) != entry.size:
            raise InvalidBundleError(f"{path} is not the file that the manifest names")
