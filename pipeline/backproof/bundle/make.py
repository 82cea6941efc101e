"""Makes a bundle from a run folder, and hands out none that it could not verify itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.bundle.archive import InvalidBundleError, require_plain_path, write_archive
from backproof.bundle.check import COMMENT, VerifiedBundle, verify_bundle
from backproof.bundle.envelope import seal
from backproof.bundle.manifest import MANIFEST, PLAN, RUN, STATEMENT, BundledFile, Manifest
from backproof.bundle.redacted import RunMask, encode_json, encode_manifest
from backproof.bundle.replay import replay_run
from backproof.bundle.statement import build_statement
from backproof.core.errors import HostError
from backproof.rundir.ledger import EVENTS_FILE, RUN_FILE, write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.upstream.publish import Loaded

LARGEST_FILE = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenBundle:
    """A bundle on disk, with the hash of the whole file, verified."""

    file: Path
    sha256: str
    verified: VerifiedBundle


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """One file of a bundle: its content, and the bytes that it had in the run folder."""

    content: bytes
    original: bytes | None = None


def make_bundle(loaded: Loaded, file: Path) -> WrittenBundle:
    """Write the bundle of a run; the run folder is locked meanwhile.

    Raises:
        HostError: the run is too large or too strange for a bundle, or another run works there.
    """
    try:
        with loaded.ledger.hold_lock():
            data = _build_bundle(loaded)
        write_atomic(file, data)
    except InvalidBundleError as error:
        raise HostError(
            f"{loaded.ledger.folder}: no bundle can be made of this run",
            why=str(error),
            next_step="look at run.json: it names its evidence by plain paths inside the run folder",
        ) from error
    return WrittenBundle(file=file, sha256=hashlib.sha256(data).hexdigest(), verified=verify_bundle(file))


def _build_bundle(loaded: Loaded) -> bytes:
    parts = _collect_parts(loaded)
    replayed = replay_run(_build_manifest(loaded, parts), _contents(parts))
    # Written from what the bundle has, not from what the run had: its reader can then do the same, and compare.
    parts[COMMENT] = replace(parts.get(COMMENT, _Part(content=b"")), content=replayed.comment.encode())
    statement = build_statement(replayed, _build_manifest(loaded, parts))
    parts[STATEMENT] = _Part(content=encode_json(statement))
    manifest = _build_manifest(loaded, parts)
    return seal(write_archive({**_contents(parts), MANIFEST: encode_manifest(manifest)}))


def _collect_parts(loaded: Loaded) -> dict[str, _Part]:
    """Evidence that the run folder no longer has is left out: run.json still names it."""
    mask, folder = RunMask.of_run(loaded.story), loaded.ledger.folder
    parts = {PLAN: _Part(content=encode_json(mask.mask_value(loaded.plan.model_dump(mode="json", by_alias=True))))}
    evidence = replace(loaded.story, run=loaded.said).evidence
    for path in sorted({RUN_FILE, EVENTS_FILE, *(item.path for item in evidence)}):
        if _is_in_folder(folder, path):
            name, data = f"{RUN}{mask.mask_text(path)}", (folder / path).read_bytes()
            if name in parts:
                raise InvalidBundleError(f"two evidence files would both be {name} once their names are redacted")
            parts[name] = _Part(content=mask.mask_file(path, data), original=data)
    return parts


def _is_in_folder(folder: Path, path: str) -> bool:
    """Return whether a path is a regular file of the run folder that no link leads to.

    Raises:
        InvalidBundleError: it is too large to carry.
    """
    file = folder / require_plain_path(path)
    if any(part.is_symlink() for part in (file, *file.parents[: path.count("/")])) or not file.is_file():
        return False
    if file.stat().st_size > LARGEST_FILE:
        raise InvalidBundleError(f"{path} has more than {LARGEST_FILE} bytes")
    return True


def _contents(parts: Mapping[str, _Part]) -> dict[str, bytes]:
    return {name: part.content for name, part in parts.items()}


def _build_manifest(loaded: Loaded, parts: Mapping[str, _Part]) -> Manifest:
    files = tuple(
        BundledFile(
            path=name,
            size=len(part.content),
            sha256=hashlib.sha256(part.content).hexdigest(),
            original_sha256=None if part.original is None else hashlib.sha256(part.original).hexdigest(),
        )
        for name, part in sorted(parts.items())
    )
    return Manifest(tool=f"backproof {__version__}", run=loaded.said.id, files=files)
