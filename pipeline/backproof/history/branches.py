"""The branches that a command asks about, and reconstructions of commits that a repository does not have."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from backproof.adapters.git.log import read_log
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.adapters.git import CommitInfo, Source, Store

_RECONSTRUCTS = "Backproof-Reconstructs:"
_SERIES = 100
"""A pull request with more commits than this is not a backport."""
_MAIN = ("main", "master", "trunk", "develop")

RELEASES: Final = ("release*", "stable*", "maint*", "[0-9]*", "[vV][0-9]*", "*.x")
"""Names that projects give their release branches."""


def match_branches(source: Source, globs: Sequence[str]) -> dict[str, str]:
    """Return the branches that match a glob, by name; a local one wins over a remote one.

    Raises:
        PlanError: none does.
    """
    matches: dict[str, str] = {}
    for ref in sorted(source.refs, key=lambda name: name.startswith("refs/remotes/")):
        name = shorten_ref(ref)
        forms = (name, ref, ref.removeprefix("refs/remotes/"))
        if name and name not in matches and any(fnmatchcase(str(form), glob) for form in forms for glob in globs):
            matches[name] = source.refs[ref]
    if not matches:
        raise PlanError(
            f"{source.name}: no branch matches {', '.join(globs)}",
            why=f"it has {', '.join(sorted(filter(None, map(shorten_ref, source.refs)))[:8]) or 'no branches'}",
            next_step="give a --branches glob that matches, for example '*'",
        )
    return dict(sorted(matches.items()))


def shorten_ref(ref: str) -> str | None:
    """Return the name of the branch that a ref is of; None for other refs."""
    if ref.startswith("refs/heads/"):
        return ref.removeprefix("refs/heads/")
    parts = ref.split("/", 3)
    return parts[3] if ref.startswith("refs/remotes/") and len(parts) == 4 and parts[3] != "HEAD" else None


def find_main(source: Source, name: str | None) -> str:
    """Return the commit of the main branch."""
    return source.resolve_branch(name or next(_list_mains(source), "main"))


def _list_mains(source: Source) -> Iterator[str]:
    for branch in _MAIN:
        if {f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"} & set(source.refs):
            yield branch


def list_pull_commits(store: Store, source: Source, pull: int | None, base: str) -> tuple[str, ...]:
    """Return a pull request's own commits, oldest first: those that neither the base nor a main branch has."""
    head = source.find_pull_head(pull)
    mains = [source.resolve_branch(name) for name in _list_mains(source)]
    return store.list_commits(base, head, *mains) if head else ()


def find_reconstruction(store: Store, source: Source, pull: int | None, name: str) -> str | None:
    """Return the commit of a pull request that stands for another one, which this repository does not have."""
    head = source.find_pull_head(pull)
    commits = read_log(store, head, options=(f"-{_SERIES}",)) if head else ()
    return next((commit.sha for commit in commits if name in read_reconstructed(commit)), None)


def read_reconstructed(commit: CommitInfo) -> tuple[str, ...]:
    """Return the commits that a commit says to stand for: it is not upstream's own, it was written to equal them."""
    rows = (line.split() for line in commit.message.splitlines())
    return tuple(row[1] for row in rows if len(row) > 1 and row[0] == _RECONSTRUCTS)
