"""From what the user named to commits: a fix on main, a pull request, a range, or what stands on the branch already."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backproof.adapters.git.log import find_merged_pull
from backproof.core.errors import PlanError
from backproof.history.branches import find_main

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git import Source, Store

_PULL = re.compile(r"(?:[\w.-]+/[\w.-]+)?#(\d{1,9})", re.ASCII)
_PICKED = re.compile(r"\(cherry picked from commit ([0-9a-f]{7,40})\)")
_FROM = re.compile(
    r"(?:from|backport(?:s|ed)?(?: of)?|PR|cherry[- ]pick(?:ed)?(?: of| from)?)\s*#(\d{1,9})\b", re.IGNORECASE
)


def read_pull_number(names: Sequence[str]) -> int | None:
    """Return the number of the first pull request among the names."""
    return next((int(match[1]) for name in names if (match := _PULL.fullmatch(name))), None)


def resolve_commits(store: Store, source: Source, names: Sequence[str], branch: str | None) -> tuple[str, ...]:
    """Return the commits that are meant, oldest first.

    Args:
        branch: the release branch where they stand on it already; None for fixes on main.

    Raises:
        PlanError: there is none by one of the names.
    """
    commits: list[str] = []
    for name in names:
        before, dots, after = name.partition("..")
        if dots:
            commits += store.list_commits(*(require_commit(store, source, end) for end in (before, after.lstrip("."))))
        elif match := _PULL.fullmatch(name):
            commits += _list_pull(store, source, int(match[1]), branch)
        else:
            commits.append(require_commit(store, source, name))
    if not commits:
        raise PlanError(
            f"{' '.join(names)}: no commit", why="the range is empty", next_step="name a commit, or a range A..B"
        )
    return tuple(commits)


def require_commit(store: Store, source: Source, name: str) -> str:
    """Return the commit of a hash, a tag or a branch.

    Raises:
        PlanError: there is none, or the short hash is ambiguous.
    """
    # Our store borrows objects and has none of the repository's refs.
    named = (source.refs.get(f"{kind}/{name}") for kind in ("refs/tags", "refs/heads", "refs/remotes/origin"))
    if sha := next(filter(None, named), None) or store.resolve_commit(name):
        return sha
    raise PlanError(
        f"{name}: there is no such commit",
        why="the repository does not have it, or the short name is ambiguous",
        next_step="fetch it there, or name it in full",
    )


def _list_pull(store: Store, source: Source, pull: int, branch: str | None) -> tuple[str, ...]:
    """Return the commit by which it was merged, or the commits of a pull request that is still open."""
    tip = source.resolve_branch(branch) if branch else find_main(source, None)
    if merged := find_merged_pull(store, tip, pull):
        return (merged,)
    if head := source.find_pull_head(pull):
        return store.list_commits(tip, head)
    raise PlanError(
        f"#{pull}: the repository has neither its merge nor refs/pull/{pull}/head",
        why="it was not fetched, or it is of another repository",
        next_step=f"git fetch origin refs/pull/{pull}/head:refs/pull/{pull}/head, or name commits",
    )


def find_original(store: Store, source: Source, sha: str) -> str | None:
    """Return the fix on main that a backport says it is of; None where it does not say, or that is not here."""
    message = store.objects.read_commit(sha).message
    if match := _PICKED.search(message):
        return store.resolve_commit(match[1])
    if match := _FROM.search(message):
        return find_merged_pull(store, find_main(source, None), int(match[1]))
    return None
