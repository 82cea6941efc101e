"""A worktree of our store: where commits are picked, dropped from, fixed up."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git.command import git, must
from backproof.core.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from backproof.adapters import proc

FALLBACK_IDENTITY = ("Backproof", "backproof@localhost")

_SPARSE = ("core.sparseCheckout=true", "core.sparseCheckoutCone=false")
_KINDS = {
    frozenset("123"): "content",
    frozenset("12"): "modify/delete: the fix deletes what the branch changed",
    frozenset("13"): "modify/delete: the branch does not have this file",
    frozenset("23"): "add/add",
    frozenset("1"): "rename/delete",
    frozenset("2"): "rename: ours",
    frozenset("3"): "rename: theirs",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PickAttempt:
    """What a cherry-pick left: nothing unmerged (committed), or the paths that a person must merge."""

    dropped: tuple[str, ...]
    unmerged: tuple[tuple[str, str], ...]
    conflict_text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Worktree:
    """A checked-out tree of ours; every method leaves it clean."""

    folder: Path
    sparse: bool = False
    """Only some paths are written out. Said with each command: `git sparse-checkout` would rewrite our store's config."""

    def git(self, *args: str, stdin: bytes = b"") -> proc.Completed:
        settings = (*_identity(), *(_SPARSE if self.sparse else ()))
        return git("-C", str(self.folder), *args, stdin=stdin, settings=settings)

    def head(self) -> str:
        return must(self.git("rev-parse", "HEAD"), "the worktree has no HEAD").text.strip()

    def reset(self, rev: str) -> None:
        must(self.git("reset", "--quiet", "--hard", rev), f"the worktree cannot go to {rev}")
        self.git("clean", "-qfdx")

    def write_only(self, paths: Iterable[str]) -> None:
        """Write out these paths of a worktree that has no files yet; the others stay in the index alone."""
        patterns = [b"/" + _pattern(each) for each in paths]
        place = must(
            self.git("rev-parse", "--path-format=absolute", "--git-path", "info/sparse-checkout"), "no git folder"
        )
        file = Path(place.text.strip())
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\n".join([*patterns, b""]))
        must(self.git("read-tree", "-mu", "HEAD"), "the worktree cannot be written")

    def cherry_pick(
        self, sha: str, *, drop: Callable[[str], bool], signoff: bool = False, mainline: int | None = None
    ) -> PickAttempt:
        """Pick one commit without the paths that `drop` matches; a conflict only in those is no conflict.

        The commit may come out empty: the caller compares trees. After a conflict the worktree is back where it was.
        """
        before = self.head()
        options = ["-x", "--allow-empty", "--keep-redundant-commits"]
        options += ["--signoff"] if signoff else []
        options += ["-m", str(mainline)] if mainline else []
        done = self.git("cherry-pick", *options, sha)
        if done.code == 0:
            return PickAttempt(dropped=self._drop_from_commit(before, drop), unmerged=())
        stages = self._unmerged()
        if not stages:
            self.reset(before)
            must(done, f"{sha}: git could not pick this commit")
        return self._finish_conflict(before, stages, drop)

    def _finish_conflict(
        self, before: str, stages: dict[str, frozenset[str]], drop: Callable[[str], bool]
    ) -> PickAttempt:
        real = {path: kinds for path, kinds in stages.items() if not drop(path)}
        if real:
            text = self.git("diff").stdout.decode("utf-8", "replace")
            self.git("cherry-pick", "--abort")
            self.reset(before)
            return PickAttempt(
                dropped=(),
                unmerged=tuple((p, _KINDS.get(k, "other")) for p, k in sorted(real.items())),
                conflict_text=text,
            )
        dropped = self._restore(before, [*stages, *self._changed(before, drop)])
        must(
            self.git(
                "commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", "-", stdin=self._prepared_message()
            ),
            "the pick cannot be committed",
        )
        return PickAttempt(dropped=dropped, unmerged=())

    def _prepared_message(self) -> bytes:
        """What cherry-pick prepared (it holds the -x line), without the list of conflicts that git adds as a comment."""
        path = must(
            self.git("rev-parse", "--path-format=absolute", "--git-path", "MERGE_MSG"), "no message"
        ).text.strip()
        text = (self.folder / path).read_bytes()
        return text.split(b"\n# Conflicts:\n")[0].rstrip() + b"\n"

    def _drop_from_commit(self, before: str, drop: Callable[[str], bool]) -> tuple[str, ...]:
        dropped = self._restore(before, self._changed(before, drop))
        if dropped:
            must(
                self.git("commit", "--quiet", "--amend", "--no-edit", "--allow-empty", "--cleanup=verbatim"),
                "dropped paths cannot be taken out of the pick",
            )
        return dropped

    def _changed(self, before: str, drop: Callable[[str], bool]) -> list[str]:
        done = must(
            self.git("diff", "--cached", "--name-only", "--no-renames", "-z", before), "the pick cannot be read"
        )
        return [path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path and drop(path)]

    def _restore(self, before: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Bring paths back to what they were at `before`, in index and folder."""
        wanted = tuple(sorted(set(paths)))
        for path in wanted:
            if self.git("cat-file", "-e", f"{before}:{path}").code == 0:
                must(self.git("checkout", "--quiet", before, "--", path), f"{path}: cannot be dropped")
            else:
                must(
                    self.git("rm", "--sparse", "--quiet", "--force", "--ignore-unmatch", "--", path),
                    f"{path}: cannot be dropped",
                )
        return wanted

    def _unmerged(self) -> dict[str, frozenset[str]]:
        done = must(self.git("ls-files", "--unmerged", "-z"), "the index cannot be read")
        found: dict[str, set[str]] = {}
        for row in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
            if row:
                meta, path = row.split("\t", 1)
                found.setdefault(path, set()).add(meta.split(" ")[2])
        return {path: frozenset(stages) for path, stages in found.items()}

    def apply(self, patch: bytes, *, reverse: bool = False, check: bool = False) -> proc.Completed:
        """`git apply --index`, without fuzz: the anchor is there or the patch is refused."""
        flags = [*(["--reverse"] if reverse else []), *(["--check"] if check else [])]
        return self.git("apply", "--index", "--whitespace=nowarn", *flags, "-", stdin=patch)

    def staged(self) -> tuple[str, ...]:
        """Paths in the index that differ from HEAD."""
        done = must(
            self.git("diff", "--cached", "--name-only", "--no-renames", "-z", "HEAD"), "the index cannot be read"
        )
        return tuple(path for path in done.stdout.decode("utf-8", "surrogateescape").split("\0") if path)

    def commit_all(self, message: str, *, signoff: bool = False) -> str:
        """Commit what changed as one commit of ours; returns its hash.

        Raises:
            HostError: nothing changed.
        """
        must(self.git("add", "--update"), "the change cannot be staged")
        if self.git("diff", "--cached", "--quiet").code == 0:
            raise HostError(
                "the fix-up changed nothing", why="the tree is the same as before", next_step="correct the fix-up"
            )
        flags = ["--signoff"] if signoff else []
        must(self.git("commit", "--quiet", "-F", "-", *flags, stdin=message.encode()), "the fix-up cannot be committed")
        return self.head()


def _identity() -> tuple[str, ...]:
    """Who commits, as git settings: the user's own identity where there is one; git keeps the author of a pick."""
    name = os.environ.get("GIT_COMMITTER_NAME") or _configured("user.name") or FALLBACK_IDENTITY[0]
    email = os.environ.get("GIT_COMMITTER_EMAIL") or _configured("user.email") or FALLBACK_IDENTITY[1]
    return (f"user.name={name}", f"user.email={email}")


@functools.cache
def _configured(key: str) -> str:
    return git("config", "--get", key, own=False).text.strip()


def _pattern(path: str) -> bytes:
    """A path as a gitignore pattern that matches it alone; a newline cannot be said there, `?` stands for it."""
    raw = path.encode("utf-8", "surrogateescape")
    return re.sub(rb"([\\*?\[\]! #])", rb"\\\1", raw).replace(b"\n", b"?")
