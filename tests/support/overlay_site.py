"""A small site-packages with everything that an overlay must leave as it was, and a picture of it to compare."""

from __future__ import annotations

import hashlib
import os
import py_compile
import stat
import sys
from typing import TYPE_CHECKING, Any

from backproof.install.overlay import Change

if TYPE_CHECKING:
    from pathlib import Path

OLD = b"VALUE = 1\n"
NEW = b"VALUE = 2\n"
GUARDS = ("demo-1.0.dist-info/METADATA", "demo-1.0.dist-info/RECORD")
LONG_AGO = 1_700_000_000_123_456_789


def build(site: Path) -> Path:
    """Two modules with all kinds of compiled files, one that a cache shares by a hard link, a distribution's record."""
    package = site / "demo"
    package.mkdir(parents=True)
    for name in ("__init__.py", "a.py", "b.py", "gone.py", "other.py"):
        (package / name).write_bytes(OLD)
        os.utime(package / name, ns=(LONG_AGO, LONG_AGO))
    (package / "data.txt").write_text("kept\n", encoding="utf-8")
    (package / "a.py").chmod(0o640)
    (site.parent / "cached-by-installer.py").hardlink_to(package / "b.py")
    for level in (0, 1, 2):
        py_compile.compile(str(package / "a.py"), optimize=level, doraise=True)
    py_compile.compile(str(package / "gone.py"), cfile=str(package / "gone.pyc"), doraise=True)
    py_compile.compile(str(package / "other.py"), doraise=True)
    record = site / "demo-1.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n", encoding="utf-8")
    (record / "RECORD").write_text("demo/__init__.py,,\n", encoding="utf-8")
    return site


def changes() -> tuple[Change, ...]:
    """Two files changed, one deleted, two added: one of them in a folder that is not there yet."""
    before = hashlib.sha256(OLD).hexdigest()
    return (
        Change(path="demo/a.py", before=before, new=NEW),
        Change(path="demo/b.py", before=before, new=b"VALUE = 'longer'\n"),
        Change(path="demo/gone.py", before=before, new=None),
        Change(path="demo/added.py", before=None, new=b"VALUE = 3\n"),
        Change(path="demo/new/deep/more.py", before=None, new=b"VALUE = 4\n"),
    )


def one_more() -> tuple[Change, ...]:
    """Another arm: another file."""
    return (Change(path="demo/other.py", before=hashlib.sha256(OLD).hexdigest(), new=NEW),)


def picture(root: Path) -> dict[str, tuple[Any, ...]]:
    """Every name with its kind, mode and owner; of files the content, the time and the number of links, too."""
    found: dict[str, tuple[Any, ...]] = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        seen: tuple[Any, ...] = (stat.S_IFMT(facts.st_mode), stat.S_IMODE(facts.st_mode), facts.st_uid)
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            seen += (digest, facts.st_mtime_ns, facts.st_nlink, facts.st_ino)
        found[path.relative_to(root).as_posix()] = seen
    return found


def tag() -> str:
    return str(sys.implementation.cache_tag)
