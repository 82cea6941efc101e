"""Why an entry is on sys.path, and where a finder comes from."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_ZIPPED = "python{}{}.zip".format(*sys.version_info[:2])


def why(place: str, launch: str) -> tuple[str, str]:
    """A kind (the words of docs/verify.md) and a detail."""
    real = os.path.realpath(place or ".")
    first = _first_entry(place, real, launch)
    if first:
        return first
    if real in _real_paths((os.environ.get("PYTHONPATH") or "").split(os.pathsep)):
        return "PYTHONPATH", place
    if real in _real_paths(site_folders()):
        return "site-packages", place
    line = _pth_of(real)
    if line:
        return ".pth line", line
    library = os.path.realpath(sysconfig.get_path("stdlib"))
    if real == library or real.startswith(library + os.sep) or Path(real).name == _ZIPPED:
        return "standard library", place
    return "sys.path", "added while the interpreter started"


def _first_entry(place: str, real: str, launch: str) -> tuple[str, str] | None:
    if place != sys.path[0] or getattr(sys.flags, "safe_path", False):
        return None
    if launch == "module" and real == os.path.realpath("."):
        return "current folder", "the service is started with python -m"
    if launch == "script" and real == os.path.realpath(sysconfig.get_path("scripts")):
        return "script folder", "the service is started by its console script"
    return None


def _real_paths(places: Iterable[str]) -> set[str]:
    return {os.path.realpath(place) for place in places if place}


def site_folders() -> list[str]:
    folders = list(site.getsitepackages())
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    return [*folders, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]


def _pth_lines() -> Iterator[tuple[Path, str]]:
    for folder in dict.fromkeys(os.path.realpath(item) for item in site_folders()):
        for file in sorted(Path(folder).glob("*.pth")):
            try:
                text = file.read_text(encoding="utf-8", errors="replace")
            except OSError:
                continue
            for line in text.splitlines():
                yield file, line.strip()


def _pth_of(real: str) -> str:
    for file, line in _pth_lines():
        if line and not line.startswith(("#", "import ", "import\t")) and real == os.path.realpath(file.parent / line):
            return str(file)
    return ""


def where_from(finder: Any) -> str:
    """The finder's name, and the .pth file that brought it."""
    named = label(finder)
    home = named.partition(".")[0]
    for file, line in _pth_lines():
        if line.startswith(("import ", "import\t")) and home in line:
            return f"{named}, installed by {file}"
    return named


def label(thing: Any) -> str:
    kind = thing if isinstance(thing, type) else type(thing)
    return f"{kind.__module__}.{kind.__qualname__}"
