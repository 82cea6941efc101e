"""Reads commits of a git repository: no GitHub, and the repository is only borrowed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.github import references
from backproof.core.errors import PlanError
from backproof.history.repository import open_repository
from backproof.scaffold.facts import Facts
from backproof.scaffold.release import Release, read_release

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.adapters.git import CommitInfo, Source, Store
    from backproof.history.picks import Picker


def read_commits(repo: str, names: Sequence[str], branch: str) -> Facts:
    """Read commits and the release branch that wants them.

    Raises:
        PlanError: there is no such repository, commit or branch, or a commit is a merge.
        HostError: the repository is incomplete.
    """
    with open_repository(repo, say=lambda _: None) as opened:
        source, picker = opened.source, opened.picker
        tip = source.resolve_branch(branch)
        named = [_read_commit(picker.store, source, name) for name in names]
        commits = tuple({commit.sha: commit for commit in named}.values())
        paths = tuple({path: None for commit in commits for path in _list_paths(picker, commit)})
        return _build_facts(source, commits, paths, branch, _read_release(picker, tip, paths))


def _read_commit(store: Store, source: Source, name: str) -> CommitInfo:
    sha = store.resolve_commit(name)
    if sha is None:
        raise PlanError(
            f"{name}: no such commit",
            why=f"{source.name} does not have it, or the short hash is ambiguous; names of branches are not taken here",
            next_step="give the full hash, or fetch it into that repository",
        )
    info = store.objects.read_commit(sha)
    if len(info.parents) > 1:
        raise PlanError(
            f"{name}: this is a merge commit",
            why="only a person can say which of its parents is the main line",
            next_step="name the commits that it merges, each with --commit",
        )
    return info


def _list_paths(picker: Picker, commit: CommitInfo) -> Iterable[str]:
    change = picker.read_change(commit.sha)
    return picker.diff_trees(change.before, change.after)


def _read_release(picker: Picker, tip: str, paths: Sequence[str]) -> Release:
    def read(path: str) -> str | None:
        text = picker.objects.read_file(picker.read_tree(tip), path)
        return text.decode("utf-8", "replace") if text is not None else None

    return read_release(read, paths)


def _build_facts(
    source: Source, commits: tuple[CommitInfo, ...], paths: tuple[str, ...], branch: str, release: Release
) -> Facts:
    remote, repo = _find_upstream(source)
    subjects = [references.parse_subject(commit.subject) for commit in commits]
    pull = _find_only({subject.pull for subject in subjects})
    original = _find_only({references.find_original_pull(commit.message, but=pull) for commit in commits})
    hashes = ", ".join(commit.sha[:12] for commit in commits[:8])
    return Facts(
        source=f"{hashes} of {repo or 'a repository'}",
        repo=repo,
        remote=remote,
        title=subjects[0].title,
        pull=pull,
        original=original or _find_only({subject.original for subject in subjects}),
        wanted=tuple(commit.sha for commit in commits),
        touched=paths,
        files=paths,
        branch=branch,
        release=release,
    )


def _find_only(numbers: set[int | None]) -> int | None:
    """Return the number that all who name one agree on."""
    named = numbers - {None}
    return named.pop() if len(named) == 1 else None


def _find_upstream(source: Source) -> tuple[str, str]:
    """Return the remote that has an address on GitHub, and its owner/name."""
    remotes = ((name, references.parse_repository(address)) for name, address in source.addresses.items())
    return next((remote for remote in remotes if remote[1]), ("", ""))
