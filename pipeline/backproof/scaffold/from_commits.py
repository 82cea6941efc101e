"""Reads commits of a git repository: no GitHub, and the repository is only borrowed from."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.adapters.github import references
from backproof.core.errors import HostError, PlanError
from backproof.scaffold.facts import Facts
from backproof.scaffold.release import LONGEST, Release, read_release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git import CommitInfo


def from_commits(repo: str, names: Sequence[str], branch: str) -> Facts:
    """Read commits and the release branch that wants them.

    Raises:
        PlanError: there is no such repository, commit or branch, or a commit is a merge.
        HostError: the repository is incomplete.
    """
    source = Source.open(repo)
    tip = source.branch(branch)
    with tempfile.TemporaryDirectory(prefix="backproof-") as folder:
        store = Store.create(Path(folder) / "store.git", source)
        found = [_commit(store, source, name) for name in names]
        commits = tuple({each.sha: each for each in found}.values())
        paths = store.touched(each.sha for each in commits)
        return _facts(source, commits, paths, branch, _release(store, tip, paths))


def _commit(store: Store, source: Source, name: str) -> CommitInfo:
    sha = store.resolve(name)
    if sha is None:
        raise PlanError(
            f"{name}: no such commit",
            why=f"{source.name} does not have it, or the short hash is ambiguous; names of branches are not taken here",
            next_step="give the full hash, or fetch it into that repository",
        )
    info = store.commit(sha)
    if len(info.parents) > 1:
        raise PlanError(
            f"{name}: this is a merge commit",
            why="which of its parents is the main line, only a person can say",
            next_step="name the commits that it merges, each with --commit",
        )
    _need_parent(store, info)
    return info


def _need_parent(store: Store, info: CommitInfo) -> None:
    """Without its parent, a commit seems to bring every file that there is."""
    if info.sha in store.boundary() or not all(map(store.has, info.parents)):
        raise HostError(
            f"{info.sha[:12]}: its parent is not in the repository",
            why="the clone is shallow or incomplete, so the change of this commit cannot be told",
            next_step="complete the clone (`git fetch --unshallow`, or `git fetch --deepen=50`) and run again",
        )


def _release(store: Store, tip: str, paths: Sequence[str]) -> Release:
    def read(path: str) -> str | None:
        # One more than is read of a file: a longer one is then known to be longer.
        done = store.git("cat-file", "blob", f"{tip}:{path}", keep=4 * LONGEST + 4)
        return done.text if done.code == 0 else None

    return read_release(read, paths)


def _facts(
    source: Source, commits: tuple[CommitInfo, ...], paths: tuple[str, ...], branch: str, release: Release
) -> Facts:
    remote, repo = _upstream(source)
    subjects = [references.parse_subject(each.subject) for each in commits]
    pull = _only({each.pull for each in subjects})
    said = _only({references.find_original_pull(each.message, but=pull) for each in commits})
    shown = ", ".join(each.sha[:12] for each in commits[:8])
    return Facts(
        source=f"{shown} of {repo or 'a repository'}",
        repo=repo,
        remote=remote,
        title=subjects[0].title,
        pull=pull,
        original=said or _only({each.original for each in subjects}),
        wanted=tuple(each.sha for each in commits),
        touched=paths,
        files=paths,
        branch=branch,
        release=release,
    )


def _only(numbers: set[int | None]) -> int | None:
    """The one that all who name one agree on."""
    named = numbers - {None}
    return named.pop() if len(named) == 1 else None


def _upstream(source: Source) -> tuple[str, str]:
    """The remote that has an address on GitHub, and owner/name of it."""
    found = ((name, references.parse_repository(address)) for name, address in source.addresses.items())
    return next((each for each in found if each[1]), ("", ""))
