"""The commit graph of main and the release branches, read once: what is in a branch, what is only there."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from backproof.adapters.git.command import checked
from backproof.adapters.git.log import read_log
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from backproof.adapters.git import CommitInfo, Source, Store

_RECONSTRUCTS = "Backproof-Reconstructs:"
_SERIES = 100
"""A pull request with more commits than this is not a backport."""
_MAIN = ("main", "master", "trunk", "develop")


def match_branches(source: Source, globs: Sequence[str]) -> dict[str, str]:
    """Return the branches that match a glob, by name; a local one wins over a remote one.

    Raises:
        PlanError: none does.
    """
    matches: dict[str, str] = {}
    for ref in sorted(source.refs, key=lambda name: name.startswith("refs/remotes/")):
        name = _shorten_ref(ref)
        if name and name not in matches and any(fnmatchcase(name, glob) for glob in globs):
            matches[name] = source.refs[ref]
    if not matches:
        raise PlanError(
            f"{source.name}: no branch matches {', '.join(globs)}",
            why=f"it has {', '.join(sorted(filter(None, map(_shorten_ref, source.refs)))[:8]) or 'no branches'}",
            next_step="give another --branches glob, for example 'release*'",
        )
    return dict(sorted(matches.items()))


def _shorten_ref(ref: str) -> str | None:
    if ref.startswith("refs/heads/"):
        return ref.removeprefix("refs/heads/")
    parts = ref.split("/", 3)
    return parts[3] if ref.startswith("refs/remotes/") and len(parts) == 4 and parts[3] != "HEAD" else None


def find_main(source: Source, name: str | None) -> str:
    """Return the commit of the main branch."""
    if name is not None:
        return source.resolve_branch(name)
    main = next(
        (branch for branch in _MAIN if {f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"} & set(source.refs)),
        None,
    )
    return source.resolve_branch(main or "main")


def find_reconstruction(store: Store, source: Source, pull: int | None, name: str) -> str | None:
    """Return the commit of a pull request that stands for another one, which this repository does not have."""
    head = source.find_pull_head(pull)
    commits = read_log(store, head, options=(f"-{_SERIES}",)) if head else ()
    return next((commit.sha for commit in commits if name in read_reconstructed(commit)), None)


def read_reconstructed(commit: CommitInfo) -> tuple[str, ...]:
    """Return the commits that a commit says to stand for: it is not upstream's own, it was written to equal them."""
    rows = (line.split() for line in commit.message.splitlines())
    return tuple(row[1] for row in rows if len(row) > 1 and row[0] == _RECONSTRUCTS)


class CommitGraph:
    """The ancestry of all tips, read at once."""

    def __init__(self, store: Store, tips: Iterable[str]) -> None:
        self._store = store
        names = "\n".join(sorted(set(tips))).encode() + b"\n"
        done = checked(store.run_git("rev-list", "--parents", "--stdin", stdin=names), "history cannot be walked")
        rows = (line.split() for line in done.text.splitlines())
        self._parents: dict[str, list[str]] = {row[0]: row[1:] for row in rows}

    def collect_ancestors(self, tip: str) -> set[str]:
        """Return a commit and all its ancestors."""
        seen: set[str] = set()
        waiting = [tip]
        while waiting:
            sha = waiting.pop()
            if sha not in seen:
                seen.add(sha)
                waiting += self._parents.get(sha, ())
        return seen

    def read_commits(self, tips: Sequence[str], without: str) -> Mapping[str, CommitInfo]:
        """Return the commits of the tips that `without` does not have, newest first."""
        return {commit.sha: commit for commit in read_log(self._store, *tips, f"^{without}")} if tips else {}
