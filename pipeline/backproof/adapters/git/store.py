"""Our own bare repository in the run folder. It borrows the objects of the user's repository and never writes there."""

from __future__ import annotations

import secrets
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from git import Repo
from git.exc import BadName, BadObject
from gitdb.exc import BadName as DbBadName
from gitdb.exc import BadObject as DbBadObject

from backproof.adapters import proc
from backproof.adapters.git.command import git, must
from backproof.adapters.git.worktree import Worktree
from backproof.records.proof import FileChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.adapters.git.source import Source

_ABSENT = "0" * 40


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitInfo:
    """One commit, read from the object store."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    message: str
    author: str


def _is_whole(folder: Path) -> bool:
    return all((folder / each).exists() for each in ("HEAD", "config", "objects/info", "refs"))


def _init(folder: Path) -> None:
    """Made aside and moved into place: an init that a full disk or a kill cuts leaves half a store, which git refuses."""
    aside = folder.with_name(f"{folder.name}.new")
    for each in (aside, folder):
        shutil.rmtree(each, ignore_errors=True)
    must(git("init", "--quiet", "--bare", str(aside)), f"{folder}: our object store cannot be created")
    aside.rename(folder)


class Store:
    """A bare repository of ours with the user's objects as alternates."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, source: Source) -> Store:
        """Make (or re-open) the store and point it at the source's objects."""
        if not _is_whole(folder):
            _init(folder)
        (folder / "objects" / "info" / "alternates").write_text(f"{source.objects}\n", encoding="utf-8")
        # Without it git takes the cut commits' parents for lost objects instead of a shallow boundary.
        (folder / "shallow").unlink(missing_ok=True)
        if source.shallow:
            (folder / "shallow").write_bytes(source.shallow.read_bytes())
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> Store:
        return cls(folder)

    def git(
        self, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None, keep: int = proc.KEEP_BYTES
    ) -> proc.Completed:
        return git(f"--git-dir={self.folder}", *args, stdin=stdin, env=env, keep=keep)

    def repo(self) -> Repo:
        return Repo(self.folder)

    def resolve(self, name: str) -> str | None:
        """The full hash of a commit, or None where the store does not have it (or the short name is ambiguous)."""
        done = self.git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        return done.text.strip() if done.code == 0 else None

    def commit(self, sha: str) -> CommitInfo:
        """Read a commit.

        Raises:
            HostError: the object is missing or damaged.
        """
        try:
            with self.repo() as repo:
                found = repo.commit(sha)
                message = found.message if isinstance(found.message, str) else found.message.decode("utf-8", "replace")
                return CommitInfo(
                    sha=found.hexsha,
                    tree=found.tree.hexsha,
                    parents=tuple(each.hexsha for each in found.parents),
                    subject=message.split("\n", 1)[0].strip(),
                    message=message,
                    author=f"{found.author.name} <{found.author.email}>",
                )
        except (BadName, BadObject, DbBadName, DbBadObject, ValueError):
            must(self.git("cat-file", "-e", f"{sha}^{{commit}}"), f"{sha}: this commit cannot be read")
            raise

    def has(self, sha: str) -> bool:
        return self.git("cat-file", "-e", sha).code == 0

    def boundary(self) -> frozenset[str]:
        """Commits whose parents a shallow clone hides: git takes them for roots, so their change cannot be told."""
        path = self.folder / "shallow"
        return frozenset(path.read_text(encoding="ascii").split()) if path.exists() else frozenset()

    def blob(self, oid: str) -> bytes:
        """The bytes of a blob (whole: source files are small)."""
        with self.repo() as repo:
            return bytes(repo.odb.stream(bytes.fromhex(oid)).read())

    def tree(self, rev: str) -> str:
        return must(
            self.git("rev-parse", "--verify", "--end-of-options", f"{rev}^{{tree}}"), f"{rev}: has no tree"
        ).text.strip()

    def changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """What differs between two trees, path by path, renames shown as delete and add."""
        done = must(
            self.git("diff-tree", "-r", "-z", "--no-renames", "--full-index", "--raw", before, after),
            "two trees cannot be compared",
        )
        parts = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return tuple(_change(head, path) for head, path in zip(parts[0::2], parts[1::2], strict=False) if head)

    def touched(self, commits: Iterable[str]) -> tuple[str, ...]:
        """Every path that these commits change, against each of their parents."""
        found: dict[str, None] = {}
        for sha in commits:
            done = must(
                self.git("diff-tree", "-r", "-z", "-m", "--root", "--no-renames", "--name-only", "--no-commit-id", sha),
                f"{sha}: its paths cannot be read",
            )
            found |= dict.fromkeys(each for each in done.stdout.decode("utf-8", "surrogateescape").split("\0") if each)
        return tuple(found)

    def commits_between(self, base: str, head: str) -> tuple[str, ...]:
        """Commits on `head` and not on `base`, oldest first, merges left out."""
        done = must(
            self.git("rev-list", "--reverse", "--topo-order", "--no-merges", f"{base}..{head}"),
            "history cannot be walked",
        )
        return tuple(done.text.split())

    def set_ref(self, name: str, sha: str) -> None:
        must(self.git("update-ref", f"refs/backproof/{name}", sha), f"refs/backproof/{name} cannot be set")

    def patch(self, base: str, head: str) -> bytes:
        """The commits as mails, ready for `git am`."""
        done = must(
            self.git("format-patch", "--stdout", "--full-index", "--no-signature", f"{base}..{head}"),
            "the patch cannot be written",
        )
        return done.stdout

    def export(self, tree: str, folder: Path) -> None:
        """Write all files of a tree into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        env = {"GIT_INDEX_FILE": str(folder.with_name(f".{folder.name}.index"))}
        must(self.git("read-tree", tree, env=env), "the tree cannot be read")
        must(
            self.git("--work-tree", str(folder), "checkout-index", "--all", "--force", env=env),
            f"{folder}: the tree cannot be written",
        )
        Path(env["GIT_INDEX_FILE"]).unlink(missing_ok=True)

    @contextmanager
    def worktree(self, folder: Path, rev: str, *, paths: Iterable[str] | None = None) -> Iterator[Worktree]:
        """A detached worktree of ours for the time of the block.

        It gets a name of its own: after a kill, git may still be writing the files of the one before. With `paths`, only
        these are written out (git merges the others without): thousands of files cost seconds.
        """
        self._drop_worktrees(folder)
        own = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
        own.parent.mkdir(parents=True, exist_ok=True)
        part = [] if paths is None else ["--no-checkout"]
        must(self.git("worktree", "add", "--quiet", *part, "--detach", str(own), rev), f"{own}: no worktree")
        tree = Worktree(folder=own, sparse=paths is not None)
        if paths is not None:
            tree.write_only(paths)
        try:
            yield tree
        finally:
            self._drop_worktrees(folder)

    def _drop_worktrees(self, folder: Path) -> None:
        """They are ours and hold nothing of worth; what cannot be removed now is removed by a later run."""
        for each in folder.parent.glob(f"{folder.name}-*"):
            shutil.rmtree(each, ignore_errors=True)
        self.git("worktree", "prune")


def _change(head: str, path: str) -> FileChange:
    _, _, before, after, _ = head.lstrip(":").split(" ")
    return FileChange(
        path=path, before=None if before == _ABSENT else before, after=None if after == _ABSENT else after
    )
