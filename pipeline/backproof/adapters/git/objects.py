"""Reads objects through one long-lived `git cat-file --batch` and writes new ones into our own store.

A process per question costs about 5 ms, which is more than the question itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from gitdb.base import IStream
from gitdb.db import LooseObjectDB

from backproof.adapters.git.command import dialogue
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from backproof.adapters import proc

TREE_MODE = "40000"
LINK_MODE = "160000"
_WHO = "Backproof <backproof@localhost> 0 +0000"
"""Fixed, so that the same question makes the same objects."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry of a tree."""

    mode: str
    oid: str


@dataclass(frozen=True, kw_only=True, slots=True)
class RawCommit:
    """What a commit says, without resolving anything of it."""

    sha: str
    tree: str
    parents: tuple[str, ...]


class Objects:
    """The objects of one store."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._process: proc.Dialogue | None = None
        self._database = LooseObjectDB(str(git_dir / "objects"))
        self._trees: dict[str, dict[str, Entry]] = {}
        self._written: dict[tuple[str, bytes], str] = {}

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def find(self, oid: str) -> tuple[str, bytes] | None:
        """The kind and the bytes of an object; None where the store does not have it."""
        if self._process is None:
            self._process = dialogue(f"--git-dir={self._git_dir}", "cat-file", "--batch")
        stream = self._process.ask(f"{oid}\n".encode())
        head = stream.readline().split()
        if len(head) == 3 and head[2].isdigit():
            data = stream.read(int(head[2]) + 1)[:-1]
            return head[1].decode(), data
        if head[-1:] == [b"missing"]:
            return None
        self.close()
        raise _unreadable(oid)

    def read(self, oid: str, kind: str) -> bytes:
        """The bytes of an object of that kind.

        Raises:
            HostError: it is missing, damaged or of another kind.
        """
        found = self.find(oid)
        if found is None or found[0] != kind:
            raise _unreadable(oid)
        return found[1]

    def commit(self, sha: str) -> RawCommit:
        lines = self.read(sha, "commit").split(b"\n\n", 1)[0].split(b"\n")
        fields = [line.split(b" ", 1) for line in lines]
        parents = tuple(each[1].decode() for each in fields if each[0] == b"parent")
        return RawCommit(sha=sha, tree=fields[0][1].decode(), parents=parents)

    def tree(self, oid: str) -> dict[str, Entry]:
        """One level of a tree, by name."""
        if oid not in self._trees:
            self._trees[oid] = _parsed(self.read(oid, "tree"))
        return self._trees[oid]

    def entry(self, tree: str, path: str) -> Entry | None:
        """What a tree has at a path."""
        found: Entry | None = Entry(mode=TREE_MODE, oid=tree)
        for part in path.split("/"):
            if found is None or found.mode != TREE_MODE:
                return None
            found = self.tree(found.oid).get(part)
        return found

    def file(self, tree: str, path: str) -> bytes | None:
        """The bytes of a file of a tree; None where there is no such file (or it is a submodule)."""
        found = self.entry(tree, path)
        return None if found is None or found.mode in {TREE_MODE, LINK_MODE} else self.read(found.oid, "blob")

    def edited(self, tree: str | None, changes: Mapping[str, Entry | None]) -> str:
        """A tree with some paths set to other entries (None: absent). Folders that become empty go, as in git."""
        entries = dict(self.tree(tree)) if tree else {}
        below: dict[str, dict[str, Entry | None]] = {}
        for path, entry in changes.items():
            first, _, rest = path.partition("/")
            if rest:
                below.setdefault(first, {})[rest] = entry
            else:
                _set(entries, first, entry)
        for name, inner in below.items():
            old = entries.get(name)
            made = self.edited(old.oid if old and old.mode == TREE_MODE else None, inner)
            if self.tree(made):
                entries[name] = Entry(mode=TREE_MODE, oid=made)
            elif old and old.mode == TREE_MODE:
                del entries[name]
        return self.write("tree", _rendered(entries))

    def synthetic(self, tree: str, *parents: str) -> str:
        """A commit of ours with that tree: what git needs to merge trees."""
        lines = [f"tree {tree}", *(f"parent {each}" for each in parents), f"author {_WHO}", f"committer {_WHO}"]
        return self.write("commit", "\n".join([*lines, "", "simulated", ""]).encode())

    def write(self, kind: str, data: bytes) -> str:
        """Store an object of ours; the user's repository is only borrowed from."""
        known = self._written.get((kind, data))
        if known is None:
            done = self._database.store(IStream(kind.encode(), len(data), BytesIO(data)))
            known = str(done.hexsha.decode())
            self._written[kind, data] = known
        return known


def _set(entries: dict[str, Entry], name: str, entry: Entry | None) -> None:
    if entry is not None:
        entries[name] = entry
    elif name in entries and entries[name].mode != TREE_MODE:
        del entries[name]


def _parsed(data: bytes) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    at = 0
    while at < len(data):
        end = data.index(b"\0", at)
        mode, name = data[at:end].split(b" ", 1)
        entries[name.decode("utf-8", "surrogateescape")] = Entry(mode=mode.decode(), oid=data[end + 1 : end + 21].hex())
        at = end + 21
    return entries


def _rendered(entries: Mapping[str, Entry]) -> bytes:
    rows = [(name.encode("utf-8", "surrogateescape"), entry) for name, entry in entries.items()]
    # git sorts a folder as if its name ended with a slash.
    rows.sort(key=lambda row: row[0] + (b"/" if row[1].mode == TREE_MODE else b""))
    return b"".join(entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in rows)


def _unreadable(oid: str) -> HostError:
    return HostError(
        f"{oid}: this object cannot be read",
        why="the repository does not have it (a shallow or partial clone), or it is damaged",
        next_step="complete the clone (`git fetch --unshallow`; `git fetch --refetch` for a partial one) and run again",
    )
