"""The `.gitattributes` that steer a merge: `merge=union` and its like, from the root and from folders.

A merge of objects has no files to read them from, and git before 2.41 cannot read them from a tree. So the release's own
are written into a folder that git is given as its work tree: it then reads them as it does in a checkout.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from backproof.adapters.git.objects import FILE_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from backproof.adapters.git.objects import Objects

FILE = ".gitattributes"
# What a merge looks at; `binary` and macros of a project's own can set it. Everything else there costs no second merge.
_STEERS = re.compile(rb"merge|binary|\[attr\]|conflict-marker-size")


class AttributeFolders:
    """Writes out the attributes that a merge needs; equal ones share a folder."""

    def __init__(self, folder: Path, objects: Objects) -> None:
        self._folder = folder
        self._objects = objects

    def prepare(self, paths: Iterable[str], ours: str) -> Path | None:
        """Return a folder with the attributes of files whose text is merged; None where none steers a merge.

        Args:
            paths: these files; no other asks for attributes.
            ours: the tree whose attributes count, as they do in a checkout of it.
        """
        texts = dict(self._read(ours, paths))
        return self._write(texts) if any(map(_STEERS.search, texts.values())) else None

    def _read(self, tree: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        parts = {tuple(path.split("/")[:depth]) for path in paths for depth in range(path.count("/") + 1)}
        for folder in sorted(parts):
            name = "/".join([*folder, FILE])
            entry = self._objects.find_entry(tree, name)
            # As git: a link is not followed. A folder named ".." is in no honest tree, and must not lead out of ours.
            if entry is not None and entry.mode in FILE_MODES and not {".", "..", ""} & set(folder):
                yield name, self._objects.read_object(entry.oid, "blob")

    def _write(self, texts: Mapping[str, bytes]) -> Path:
        digest = hashlib.sha256(repr(sorted(texts.items())).encode()).hexdigest()[:16]
        folder = self._folder / digest
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        return folder
