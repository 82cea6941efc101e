"""Three-way merges of trees, many in one process, without a worktree.

`git merge-tree --write-tree` takes commits, and its `--merge-base` came only with git 2.40. Three commits of ours (the
base; the release's tree and the change's tree, both parented on the base) say the same and work from git 2.38 on.
Older gits pick in a worktree of ours: slower, and equal.
"""

from __future__ import annotations

import functools
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.command import git, must
from backproof.adapters.git.objects import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from backproof.adapters.git.objects import Objects
    from backproof.adapters.git.store import Store
    from backproof.adapters.proc import Completed

_IN_MEMORY = (2, 38)
_IN_BATCH = (2, 39)
_SAID = re.compile(r"CONFLICT \([^)]*\)")
_KEEP = 256 * 1024 * 1024
_ATTRIBUTES = ".gitattributes"


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """Bring the change from `base` to `theirs` onto `ours`; all are trees."""

    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """What git says of some paths."""

    paths: tuple[str, ...]
    kind: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Merged:
    """The tree that came out (with diff3 markers where it conflicts), or why there is none."""

    tree: str | None
    clean: bool = False
    unmerged: dict[str, dict[int, Entry]]
    messages: tuple[Message, ...] = ()
    failure: str = ""


def version() -> tuple[int, ...]:
    """The version of the git on PATH."""
    return _version(shutil.which("git"))


@functools.cache
def _version(_program: str | None) -> tuple[int, ...]:
    said = must(git("--version"), "git does not say its version").text
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
    return tuple(int(each or 0) for each in found.groups()) if found else (0, 0, 0)


class Merger:
    """Merges trees of one store."""

    def __init__(self, store: Store, objects: Objects, *, say: Callable[[str], None]) -> None:
        self._store = store
        self._objects = objects
        self._say = say
        self._told = False

    def merge(self, merges: Sequence[Merge]) -> list[Merged]:
        """One result for each merge, in order. An object that is missing is a failure, never a conflict."""
        if version() < _IN_MEMORY:
            return self._slowly(merges)
        groups: dict[str | None, list[int]] = {}
        for index, each in enumerate(merges):
            groups.setdefault(self._attributes(each.ours), []).append(index)
        results: dict[int, Merged] = {}
        for attributes, indices in groups.items():
            done = self._batch([merges[index] for index in indices], self._settings(attributes))
            results.update(zip(indices, done, strict=True))
        return [results[index] for index in range(len(merges))]

    def commits(self, merge: Merge) -> tuple[str, str]:
        """Commits of ours whose merge is this one."""
        base = self._objects.synthetic(merge.base)
        return self._objects.synthetic(merge.ours, base), self._objects.synthetic(merge.theirs, base)

    def _attributes(self, tree: str) -> str | None:
        found = self._objects.tree(tree).get(_ATTRIBUTES)
        return found.oid if found else None

    def _settings(self, attributes: str | None) -> tuple[str, ...]:
        """A merge without a worktree does not see `.gitattributes`, where `merge=union` changes what comes out."""
        if attributes is None:
            return ()
        path = self._store.folder / "attributes" / attributes
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(self._objects.read(attributes, "blob"))
        return (f"core.attributesFile={path}",)

    def _batch(self, merges: Sequence[Merge], settings: tuple[str, ...]) -> list[Merged]:
        lines = ["{} {}\n".format(*self.commits(each)) for each in merges]
        if version() < _IN_BATCH:
            return [self._single(line, settings) for line in lines]
        results: list[Merged] = []
        while len(results) < len(lines):
            rest = "".join(lines[len(results) :]).encode()
            done = self._run(("--stdin",), settings, rest)
            results += _results(done.stdout)
            if len(results) < len(lines):
                results.append(Merged(tree=None, unmerged={}, failure=done.error_text.strip() or "git did not say"))
        return results

    def _single(self, line: str, settings: tuple[str, ...]) -> Merged:
        done = self._run(("-z", *line.split()), settings, b"")
        if done.code not in {0, 1}:
            return Merged(tree=None, unmerged={}, failure=done.error_text.strip())
        return _one(iter(done.stdout.decode("utf-8", "surrogateescape").split("\0")), clean=done.code == 0)

    def _run(self, args: tuple[str, ...], settings: tuple[str, ...], stdin: bytes) -> Completed:
        return git(
            f"--git-dir={self._store.folder}",
            "merge-tree",
            "--write-tree",
            "--messages",
            "--allow-unrelated-histories",
            *args,
            settings=settings,
            stdin=stdin,
            keep=_KEEP,
        )

    def _slowly(self, merges: Sequence[Merge]) -> list[Merged]:
        if not self._told:
            found = ".".join(map(str, version()))
            self._say(f"git {found} cannot merge in memory (2.38 can): picking in a worktree of ours, which is slower")
            self._told = True
        return [self._in_worktree(each) for each in merges]

    def _in_worktree(self, merge: Merge) -> Merged:
        ours, theirs = self.commits(merge)
        with self._store.worktree(self._store.folder / "simulated", ours) as tree:
            done = tree.git("cherry-pick", "--no-commit", theirs)
            unmerged = _staged(tree.git("ls-files", "--unmerged", "--stage", "-z").stdout)
            if done.code != 0 and not unmerged:
                return Merged(tree=None, unmerged={}, failure=done.error_text.strip())
            # Everything: the tree is ours alone, and like merge-tree's it holds the files with their markers.
            must(tree.git("add", "--all", "--force"), "the pick cannot be read back")
            result = must(tree.git("write-tree"), "the pick cannot be read back").text.strip()
        said = f"{done.text}\n{done.error_text}".splitlines()
        messages = tuple(
            Message(paths=tuple(path for path in unmerged if path in line), kind=found[0], text=line)
            for line in said
            if (found := _SAID.match(line))
        )
        return Merged(tree=result, clean=not unmerged, unmerged=unmerged, messages=messages)


def _results(output: bytes) -> Iterator[Merged]:
    """The merges that were finished; git stops at one that it cannot do, and half an answer is none."""
    tokens = iter(output.decode("utf-8", "surrogateescape").split("\0"))
    for status in tokens:
        if status in {"0", "1"}:
            try:
                yield _one(tokens, clean=status == "1")
            except StopIteration:
                return


def _one(tokens: Iterator[str], *, clean: bool) -> Merged:
    tree = next(tokens)
    rows: list[str] = []
    for row in tokens:
        if not row:
            break
        rows.append(row)
    messages: list[Message] = []
    for count in tokens:
        # For submodules git prints advice for people in front of the terminator, also to a machine (seen with 2.39.5).
        if not count.isdigit():
            break
        paths = tuple(next(tokens) for _ in range(int(count)))
        messages.append(Message(paths=paths, kind=next(tokens), text=next(tokens).strip()))
    return Merged(tree=tree, clean=clean, unmerged=_stages(rows), messages=tuple(messages))


def _staged(listing: bytes) -> dict[str, dict[int, Entry]]:
    return _stages([row for row in listing.decode("utf-8", "surrogateescape").split("\0") if row])


def _stages(rows: Sequence[str]) -> dict[str, dict[int, Entry]]:
    found: dict[str, dict[int, Entry]] = {}
    for row in rows:
        meta, path = row.split("\t", 1)
        mode, oid, stage = meta.split(" ")
        found.setdefault(path, {})[int(stage)] = Entry(mode=mode, oid=oid)
    return found
