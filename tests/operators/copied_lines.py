"""Whether a line of an operator's source stands in what is given away: the repository, a wheel, a bundle."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONG = 30  # characters without blanks


def find_copied_lines(folders: Iterable[str], files: Iterable[tuple[str, bytes]]) -> list[str]:
    """Return the lines of these files, given by name and content, that stand in a source, too; short ones are anybody's."""
    code = (path.read_bytes() for folder in folders for path in _list_code(Path(folder)))
    hashes = {digest for data in code for digest, _ in _hash_lines(data)}
    return [f"{name}: {text}" for name, data in files for digest, text in _hash_lines(data) if digest in hashes]


def read_repository(root: Path) -> Iterator[tuple[str, bytes]]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in names.split("\0"):
        if name and (root / name).is_file():
            yield name, (root / name).read_bytes()


def read_archive(file: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a wheel (zip) or a bundle (tar)."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as wheel:
            yield from ((f"{file.name}: {name}", wheel.read(name)) for name in wheel.namelist())
        return
    with tarfile.open(file) as bundle:
        for member in bundle:
            if (stream := bundle.extractfile(member)) is not None:
                yield f"{file.name}: {member.name}", stream.read()


def _list_code(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.suffix in {".h", ".cpp", ".hpp"}]


def _hash_lines(data: bytes) -> Iterator[tuple[str, str]]:
    for line in data.decode(errors="replace").splitlines():
        text = "".join(line.split())
        if len(text) >= _LONG and not text.startswith("#include"):
            yield hashlib.sha256(text.encode()).hexdigest(), line.strip()[:100]
