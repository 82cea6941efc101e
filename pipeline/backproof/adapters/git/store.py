"""Our own bare repository in the run folder. It borrows the objects of the user's repository and never writes there."""

from __future__ import annotations

import secrets
import shutil
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked, run_git
from backproof.adapters.git.objects import Objects
from backproof.adapters.git.worktree import Worktree
from backproof.records.proof import FileChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.adapters import proc
    from backproof.adapters.git.source import Source

_ABSENT = "0" * 40
_WORKTREE = "worktree-"


def _is_whole(folder: Path) -> bool:
    return all((folder / name).exists() for name in ("HEAD", "config", "objects/info", "refs"))


def _create_store(folder: Path) -> None:
    """Make it aside and move it into place: an init cut by a full disk or a kill leaves half a store, which git refuses."""
    aside = folder.with_name(f"{folder.name}.new")
    for old in (aside, folder):
        shutil.rmtree(old, ignore_errors=True)
    checked(run_git("init", "--quiet", "--bare", str(aside)), f"{folder}: our object store cannot be created")
    aside.rename(folder)


class Store:
    """A bare repository of ours with the user's objects as alternates."""

    def __init__(self, folder: Path, *, lazy: bool = False) -> None:
        self.folder = folder
        self.lazy = lazy

    @classmethod
    def create(cls, folder: Path, source: Source, *, lazy: bool = False) -> Store:
        """Make (or re-open) the store and point it at the source's objects; `lazy` is one that goes with its command."""
        if not _is_whole(folder):
            _create_store(folder)
        (folder / "objects" / "info" / "alternates").write_text(f"{source.objects}\n", encoding="utf-8")
        # Without it git takes the cut commits' parents for lost objects instead of a shallow boundary.
        (folder / "shallow").unlink(missing_ok=True)
        if source.shallow:
            (folder / "shallow").write_bytes(source.shallow.read_bytes())
        return cls(folder, lazy=lazy)

    @cached_property
    def objects(self) -> Objects:
        """The objects, read and written without a process for each question."""
        return Objects(self.folder, lazy=self.lazy)

    def run_git(
        self,
        *args: str,
        stdin: bytes = b"",
        env: dict[str, str] | None = None,
        asks: Iterable[str] | None = None,
    ) -> proc.Completed:
        """Run a git command on the store; `asks` are the objects of ours that it may ask for, all of them when None."""
        self.objects.flush(asks)
        return run_git(f"--git-dir={self.folder}", *args, stdin=stdin, env=env)

    def resolve_commit(self, name: str) -> str | None:
        """Return the full hash of a commit, or None where the store does not have it (or the short name is ambiguous)."""
        if (whole := self.objects.find_object(name)) and whole[0] == "commit":
            return name
        done = self.run_git("rev-parse", "--quiet", "--verify", "--end-of-options", f"{name}^{{commit}}")
        return done.text.strip() if done.code == 0 else None

    def read_borrowed(self) -> str:
        """Return the place of the objects that it borrows; its own where it borrows none."""
        path = self.folder / "objects" / "info" / "alternates"
        return path.read_text(encoding="utf-8") if path.exists() else str(self.folder.absolute())

    def read_boundary(self) -> frozenset[str]:
        """Return the commits whose parents a shallow clone hides: git takes them for roots, so their change is unknown."""
        path = self.folder / "shallow"
        return frozenset(path.read_text(encoding="ascii").split()) if path.exists() else frozenset()

    def list_changes(self, before: str, after: str) -> tuple[FileChange, ...]:
        """Return what differs between two trees, path by path, renames shown as delete and add."""
        done = checked(
            self.run_git("diff-tree", "-r", "-z", "--no-renames", "--full-index", "--raw", before, after),
            "two trees cannot be compared",
        )
        parts = done.stdout.decode("utf-8", "surrogateescape").split("\0")
        return tuple(_parse_change(head, path) for head, path in zip(parts[0::2], parts[1::2], strict=False) if head)

    def render_diff(self, before: str, after: str, paths: Iterable[str]) -> str:
        """Return how some paths differ between two trees, for people."""
        done = self.run_git("diff-tree", "-p", "--no-renames", "--full-index", before, after, "--", *paths)
        return checked(done, "two trees cannot be compared").stdout.decode("utf-8", "replace")

    def make_patch(self, before: str, after: str, paths: Iterable[str]) -> bytes:
        """Return how some paths differ between two trees, for `git apply`."""
        done = self.run_git("diff-tree", "-p", "--binary", "--no-renames", "--full-index", before, after, "--", *paths)
        return checked(done, "two trees cannot be compared").stdout

    def list_commits(self, base: str, head: str, *others: str) -> tuple[str, ...]:
        """Return the commits on `head` that neither `base` nor the others have, oldest first, merges left out."""
        done = self.run_git(
            "rev-list", "--reverse", "--topo-order", "--no-merges", head, *(f"^{sha}" for sha in (base, *others))
        )
        return tuple(checked(done, "history cannot be walked").text.split())

    def set_ref(self, name: str, sha: str) -> None:
        checked(self.run_git("update-ref", f"refs/backproof/{name}", sha), f"refs/backproof/{name} cannot be set")

    def format_patch(self, base: str, head: str) -> bytes:
        """Return the commits as mails, ready for `git am`."""
        done = self.run_git("format-patch", "--stdout", "--full-index", "--no-signature", f"{base}..{head}")
        return checked(done, "the patch cannot be written").stdout

    def export_tree(self, tree: str, folder: Path, *, suffixes: tuple[str, ...] = ()) -> None:
        """Write all files of a tree into a folder; with `suffixes` only such files, and a link as a file with its target."""
        folder.mkdir(parents=True, exist_ok=True)
        env = {"GIT_INDEX_FILE": str(folder.with_name(f".{folder.name}.index"))}
        checked(self.run_git("read-tree", tree, env=env, asks=[tree]), "the tree cannot be read")
        write: tuple[str, ...] = ("--work-tree", str(folder), "checkout-index", "--force")
        names = b""
        if suffixes:
            listed = checked(
                self.run_git("ls-files", "-z", env=env, asks=()), "the tree cannot be listed"
            ).stdout.split(b"\0")
            names = b"\0".join(name for name in listed if name.endswith(tuple(map(str.encode, suffixes))))
            done = self.run_git("-c", "core.symlinks=false", *write, "-z", "--stdin", stdin=names, env=env, asks=())
        else:
            done = self.run_git(*write, "--all", env=env, asks=())
        checked(done, f"{folder}: the tree cannot be written")
        Path(env["GIT_INDEX_FILE"]).unlink(missing_ok=True)

    @contextmanager
    def open_worktree(self, rev: str, *, only: str | None = None) -> Iterator[Worktree]:
        """Open a detached worktree of ours for the time of the block.

        It gets a name of its own: after a kill, git may still be writing the files of the one before. With `only`, a
        pattern, other files are not written out (git merges them without): thousands of files cost seconds.
        """
        self._drop_worktrees()
        folder = self.folder / f"{_WORKTREE}{secrets.token_hex(4)}"
        part = [] if only is None else ["--no-checkout"]
        checked(
            self.run_git("worktree", "add", "--quiet", *part, "--detach", str(folder), rev), f"{folder}: no worktree"
        )
        worktree = Worktree(folder=folder, sparse=only is not None)
        if only is not None:
            worktree.write_only(only)
        try:
            yield worktree
        finally:
            self._drop_worktrees()

    def _drop_worktrees(self) -> None:
        """Remove them: they are ours and hold nothing of worth; what cannot be removed now goes with a later run."""
        for folder in self.folder.glob(f"{_WORKTREE}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self.run_git("worktree", "prune")


def _parse_change(head: str, path: str) -> FileChange:
    _, _, before, after, _ = head.lstrip(":").split(" ")
    return FileChange(
        path=path, before=None if before == _ABSENT else before, after=None if after == _ABSENT else after
    )
