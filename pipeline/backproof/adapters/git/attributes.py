"""The `.gitattributes` that steer a merge: `merge=union` and its like, from the root and from folders.

A merge of objects has no files to read them from, and git before 2.41 cannot read them from a tree. So the release's own
are written into a folder that git is given as its work tree: it then reads them as it does in a checkout.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from backproof.adapters.git.objects import FILE_MODES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
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

    def prepare(self, paths: Collection[str], ours: str) -> Path | None:
        """Return a folder with the attributes of files whose text is merged; None where none steers a merge.

        Args:
            paths: these files; no other asks for attributes.
            ours: the tree whose attributes count, as they do in a checkout of it.
        """
        texts = dict(self._read(ours, paths))
        steered = any(_may_steer(text, name.removesuffix(FILE), paths) for name, text in texts.items())
        return self._write(texts) if steered else None

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


def _may_steer(text: bytes, folder: str, paths: Iterable[str]) -> bool:
    """Tell whether attributes of a folder can steer the merge of a file: rather once too often, for git then reads them itself."""
    lines = [line for line in text.splitlines() if _STEERS.search(line)]
    patterns = [line.split()[0].decode("utf-8", "surrogateescape") for line in lines]
    # Macros, quoted names and what git refuses are git's to read.
    if any(pattern.startswith(("[", '"', "!")) for pattern in patterns):
        return True
    spec = GitIgnoreSpec.from_lines(patterns)
    inside = (path.removeprefix(folder) for path in paths if path.startswith(folder))
    return any(spec.match_file(path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for path in inside)
