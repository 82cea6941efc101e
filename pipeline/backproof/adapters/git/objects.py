"""Reads objects and commits of a store, and writes new ones into it, through GitPython and its gitdb.

GitPython keeps one `git cat-file --batch` running: a process per question costs about 5 ms, more than the question itself.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import weakref
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

# Without git on PATH the import alone would fail; the sentence about that is ours.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
from git.cmd import Git
from gitdb.base import IStream
from gitdb.db import LooseObjectDB

from backproof.adapters.git.command import require_git
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

TREE_MODE = "40000"
LINK_MODE = "160000"
FILE_MODES = frozenset({"100644", "100755"})
_OID = re.compile(r"[0-9a-f]{40}")
_WHO = "Backproof <backproof@localhost> 0 +0000"
"""Fixed, so that the same question makes the same objects."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry of a tree."""

    mode: str
    oid: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitInfo:
    """One commit, read from the object store."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: str
    authored: str
    """The author's date, in seconds since 1970: a cherry-pick keeps it."""

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0].strip()


class Objects:
    """The objects of one store."""

    def __init__(self, git_dir: Path, *, lazy: bool = False) -> None:
        """Open them.

        Args:
            git_dir: the store.
            lazy: whether objects of ours are written only before a git command that may ask for them: a file costs more than
                the question, and most of these nobody asks for. What is still waiting is lost with this object.
        """
        require_git()
        git_dir = git_dir.absolute()
        self._git = Git(str(git_dir))
        self._git.update_environment(**_own_environment(git_dir))
        # The process of a store that nobody closes ends with it.
        weakref.finalize(self, self._git.clear_cache)
        # Not GitPython's own: that one starts a process for each object it writes.
        self._database = LooseObjectDB(str(git_dir / "objects"))
        self._trees: dict[str, dict[str, Entry]] = {}
        self._lazy = lazy
        self._written: set[str] = set()
        self._waiting: dict[str, tuple[str, bytes]] = {}

    def close(self) -> None:
        self._git.clear_cache()

    def find_object(self, oid: str) -> tuple[str, bytes] | None:
        """Return the kind and the bytes of an object; None where the store does not have it whole."""
        if not _OID.fullmatch(oid):
            return None
        if oid in self._waiting:
            return self._waiting[oid]
        for _ in range(2):
            try:
                _, kind, _, data = self._git.get_object_data(oid)
            except (ValueError, OSError):
                # A damaged object ends the process, and so does a Ctrl-C that reached it: ask a new one.
                self.close()
            else:
                return os.fsdecode(kind), data
        return None

    def read_object(self, oid: str, kind: str) -> bytes:
        """Return the bytes of an object of that kind.

        Raises:
            HostError: it is missing, damaged or of another kind.
        """
        answer = self.find_object(oid)
        if answer is None or answer[0] != kind:
            raise _unreadable_error(oid)
        return answer[1]

    def read_commit(self, sha: str) -> CommitInfo:
        """Read a commit.

        Raises:
            HostError: it is missing, damaged or no commit.
        """
        return _parse_commit(sha, self.read_object(sha, "commit"))

    def read_tree(self, oid: str) -> dict[str, Entry]:
        """Return one level of a tree, by name."""
        if oid not in self._trees:
            self._trees[oid] = _parse_tree(self.read_object(oid, "tree"))
        return self._trees[oid]

    def find_entry(self, tree: str, path: str) -> Entry | None:
        """Return what a tree has at a path."""
        entry: Entry | None = Entry(mode=TREE_MODE, oid=tree)
        for part in path.split("/"):
            if entry is None or entry.mode != TREE_MODE:
                return None
            entry = self.read_tree(entry.oid).get(part)
        return entry

    def read_file(self, tree: str, path: str) -> bytes | None:
        """Return the bytes of a file of a tree; None where there is no such file (or it is a submodule)."""
        entry = self.find_entry(tree, path)
        return None if entry is None or entry.mode in {TREE_MODE, LINK_MODE} else self.read_object(entry.oid, "blob")

    @functools.lru_cache(maxsize=512)  # noqa: B019 - one object for each store
    def diff_trees(self, before: str, after: str) -> dict[str, tuple[Entry | None, Entry | None]]:
        """Return the paths that differ between two trees; only folders that differ are read."""
        return dict(self._walk_trees(before, after, ""))

    def _walk_trees(
        self, before: str | None, after: str | None, prefix: str
    ) -> Iterator[tuple[str, tuple[Entry | None, Entry | None]]]:
        left = self.read_tree(before) if before else {}
        right = self.read_tree(after) if after else {}
        for name in sorted({*left, *right}):
            old, new = left.get(name), right.get(name)
            if old == new:
                continue
            path = f"{prefix}{name}"
            folders = [entry.oid if entry and entry.mode == TREE_MODE else None for entry in (old, new)]
            if any(folders):
                yield from self._walk_trees(folders[0], folders[1], f"{path}/")
            files = [None if entry is None or entry.mode == TREE_MODE else entry for entry in (old, new)]
            if any(files):
                yield path, (files[0], files[1])

    def edit_tree(self, tree: str | None, changes: Mapping[str, Entry | None]) -> str:
        """Write a tree with some paths set to other entries (None: absent). Folders that become empty go, as in git."""
        entries = dict(self.read_tree(tree)) if tree else {}
        below: dict[str, dict[str, Entry | None]] = {}
        for path, entry in changes.items():
            first, _, rest = path.partition("/")
            if rest:
                below.setdefault(first, {})[rest] = entry
            else:
                _set_entry(entries, first, entry)
        for name, inner in below.items():
            old = entries.get(name)
            made = self.edit_tree(old.oid if old and old.mode == TREE_MODE else None, inner)
            if self.read_tree(made):
                entries[name] = Entry(mode=TREE_MODE, oid=made)
            elif old and old.mode == TREE_MODE:
                del entries[name]
        oid = self.write_object("tree", _render_tree(entries))
        self._trees[oid] = entries
        return oid

    def write_synthetic(self, tree: str, *parents: str) -> str:
        """Write a commit of ours with that tree: what git needs to merge trees."""
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents), f"author {_WHO}", f"committer {_WHO}"]
        return self.write_object("commit", "\n".join([*lines, "", "simulated", ""]).encode())

    def transplant_commit(self, sha: str, *, tree: str, parent: str) -> str:
        """Write a commit again with another tree and one parent; its other bytes stay."""
        _, author, rest = self.read_object(sha, "commit").partition(b"\nauthor ")
        return self.write_object("commit", f"tree {tree}\nparent {parent}".encode() + author + rest)

    def write_object(self, kind: str, data: bytes) -> str:
        """Store an object of ours; the user's repository is only borrowed from."""
        oid = hashlib.sha1(b"%s %d\0%s" % (kind.encode(), len(data), data), usedforsecurity=False).hexdigest()
        if oid not in self._written:
            self._waiting[oid] = (kind, data)
            if not self._lazy:
                self.flush([oid])
        return oid

    def flush(self, wanted: Iterable[str] | None = None) -> None:
        """Write what is waiting to disk: all, or what these objects hold."""
        for oid in list(self._waiting) if wanted is None else self._list_waiting(wanted):
            kind, data = self._waiting.pop(oid)
            self._database.store(IStream(kind.encode(), len(data), BytesIO(data)))
            self._written.add(oid)

    def _list_waiting(self, wanted: Iterable[str]) -> list[str]:
        """Return the objects that are waiting among these and all that they hold."""
        todo, waiting = list(wanted), dict[str, None]()
        while todo:
            oid = todo.pop()
            if oid not in self._waiting or oid in waiting:
                continue
            waiting[oid] = None
            kind, data = self._waiting[oid]
            if kind == "tree":
                todo += [entry.oid for entry in self.read_tree(oid).values()]
            elif kind == "commit":
                todo += re.findall(r"^(?:tree|parent) ([0-9a-f]{40})$", data.decode("utf-8", "replace"), re.MULTILINE)
        return list(waiting)


def _own_environment(git_dir: Path) -> dict[str, str]:
    """Return what steers git to this store: GitPython passes the caller's environment on, and a hook's names another one."""
    return {
        "GIT_DIR": str(git_dir),
        "GIT_COMMON_DIR": str(git_dir),
        "GIT_WORK_TREE": str(git_dir),
        "GIT_OBJECT_DIRECTORY": str(git_dir / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_CONFIG_PARAMETERS": "",
    }


def _set_entry(entries: dict[str, Entry], name: str, entry: Entry | None) -> None:
    if entry is not None:
        entries[name] = entry
    elif name in entries and entries[name].mode != TREE_MODE:
        del entries[name]


def _parse_commit(sha: str, data: bytes) -> CommitInfo:
    head, _, message = data.decode("utf-8", "replace").partition("\n\n")
    rows = [row.split(" ", 1) for row in head.split("\n")]
    fields = {name: values[0] for name, *values in reversed(rows)}
    author, authored, _zone = fields["author"].rsplit(" ", 2)
    return CommitInfo(
        sha=sha,
        tree=fields["tree"],
        parents=tuple(values[0] for name, *values in rows if name == "parent"),
        message=message,
        author=author,
        authored=authored,
    )


def _parse_tree(data: bytes) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        entries[name.decode("utf-8", "surrogateescape")] = Entry(mode=mode.decode(), oid=data[end + 1 : end + 21].hex())
        at = end + 21
    return entries


def _render_tree(entries: Mapping[str, Entry]) -> bytes:
    rows = [(name.encode("utf-8", "surrogateescape"), entry) for name, entry in entries.items()]
    # git sorts a folder as if its name ended with a slash.
    rows.sort(key=lambda row: row[0] + (b"/" if row[1].mode == TREE_MODE else b""))
    return b"".join(entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in rows)


def _unreadable_error(oid: str) -> HostError:
    return HostError(
        f"{oid}: this object cannot be read",
        why="the repository does not have it (a shallow or partial clone), or it is damaged",
        next_step="complete the clone (`git fetch --unshallow`; `git fetch --refetch` for a partial one) and run again",
    )
