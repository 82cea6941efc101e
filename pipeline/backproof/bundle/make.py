"""Makes a bundle from a run folder, and hands out none that it could not verify itself."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof import __version__
from backproof.bundle import archive, envelope
from backproof.bundle.check import COMMENT, Checked, check
from backproof.bundle.manifest import MANIFEST, PLAN, RUN, STATEMENT, Bundled, Manifest, Missing
from backproof.bundle.redacted import Mask, written
from backproof.bundle.replay import retold
from backproof.bundle.statement import statement
from backproof.core.errors import HostError
from backproof.rundir.ledger import EVENTS_FILE, RUN_FILE, write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.upstream.publish import Loaded

LARGEST_FILE = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """Where the bundle is, the hash of the whole file, and what verifying it said."""

    file: Path
    sha256: str
    checked: Checked


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    content: bytes
    original: bytes | None = None
    recorded: str | None = None


def make(loaded: Loaded, file: Path) -> Made:
    """Write the bundle of a run, locked against a run that is at work in the folder.

    Raises:
        HostError: the run is too large or too strange for a bundle, or another run works there.
    """
    try:
        with loaded.ledger.locked():
            data = _bundled(loaded)
        write_atomic(file, data)
    except archive.Strange as strange:
        raise HostError(
            f"{loaded.ledger.folder}: no bundle can be made of this run",
            why=str(strange),
            next_step="look at run.json: it names its evidence by plain paths inside the run folder",
        ) from strange
    return Made(file=file, sha256=hashlib.sha256(data).hexdigest(), checked=check(file))


def _bundled(loaded: Loaded) -> bytes:
    parts, missing = _parts(loaded)
    told = retold(_manifest(loaded, parts, missing), _contents(parts))
    # Drawn up from what the bundle has, not from what the run had: its reader can then do the same, and compare.
    parts[COMMENT] = replace(parts.get(COMMENT, _Part(content=b"")), content=told.comment.encode())
    parts[STATEMENT] = _Part(content=written(statement(told, _manifest(loaded, parts, missing))))
    manifest = _manifest(loaded, parts, missing)
    return envelope.sealed(archive.written({**_contents(parts), MANIFEST: written(manifest.model_dump(mode="json"))}))


def _parts(loaded: Loaded) -> tuple[dict[str, _Part], tuple[Missing, ...]]:
    mask, folder, recorded = Mask.of(loaded.story), loaded.ledger.folder, _recorded(loaded)
    parts = {PLAN: _Part(content=written(mask.value(loaded.plan.model_dump(mode="json", by_alias=True))))}
    missing = []
    for path in sorted({RUN_FILE, EVENTS_FILE, *recorded}):
        name = mask.text(path)
        if _is_ours(folder, path):
            data = (folder / path).read_bytes()
            part = _Part(content=mask.file(path, data), original=data, recorded=recorded.get(path))
            if f"{RUN}{name}" in parts:
                raise archive.Strange(f"two evidence files would both be {name} once their names are redacted")
            parts[f"{RUN}{name}"] = part
        elif path in recorded:
            missing.append(Missing(path=name, recorded_sha256=recorded[path]))
    return parts, tuple(missing)


def _recorded(loaded: Loaded) -> dict[str, str]:
    """All evidence of the run, that of the report included, by path."""
    return {each.path: each.sha256 for each in replace(loaded.story, run=loaded.said).evidence}


def _is_ours(folder: Path, path: str) -> bool:
    """A regular file of the run folder, reached by no link, and not too large to carry."""
    found = folder / archive.must_be_safe(path)
    ways = [found, *found.parents[: path.count("/")]]
    if any(each.is_symlink() for each in ways) or not found.is_file():
        return False
    if found.stat().st_size > LARGEST_FILE:
        raise archive.Strange(f"{path} has more than {LARGEST_FILE} bytes")
    return True


def _contents(parts: dict[str, _Part]) -> dict[str, bytes]:
    return {name: each.content for name, each in parts.items()}


def _manifest(loaded: Loaded, parts: dict[str, _Part], missing: tuple[Missing, ...]) -> Manifest:
    files = tuple(_entry(name, parts[name]) for name in sorted(parts))
    return Manifest(tool=f"backproof {__version__}", run=loaded.said.id, files=files, missing=missing)


def _entry(name: str, part: _Part) -> Bundled:
    original = None if part.original is None else hashlib.sha256(part.original).hexdigest()
    return Bundled(
        path=name,
        size=len(part.content),
        sha256=hashlib.sha256(part.content).hexdigest(),
        original_sha256=original,
        recorded_sha256=part.recorded,
        redacted=part.original is not None and part.content != part.original,
    )
