"""Reads commits of a git repository: no GitHub, and the repository is only borrowed from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.github import references
from backproof.core.errors import PlanError
from backproof.history.relations import Relations
from backproof.history.repository import open_repository
from backproof.scaffold.facts import Facts
from backproof.scaffold.release import Release, read_release

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.adapters.git import CommitInfo, Source
    from backproof.history.picks import Picker


def read_commits(repo: str, names: Sequence[str], branch: str, *, mainline: int | None = None) -> Facts:
    """Read commits and the release branch that wants them; `mainline` is the parent of merges that is the main line.

    Raises:
        PlanError: there is no such repository, commit or branch, or a commit is a merge without a main line.
        HostError: the repository is incomplete.
    """
    with open_repository(repo, say=lambda _: None, mainline=mainline) as opened:
        source, picker = opened.source, opened.picker
        tip = source.resolve_branch(branch)
        named = [_read_commit(picker, source, name) for name in names]
        commits = tuple({commit.sha: commit for commit in named}.values())
        paths = tuple({path: None for commit in commits for path in _list_paths(picker, commit)})
        lines = [picker.find_mainline(commit) for commit in commits]
        release = _read_release(picker, tip, paths)
        return _build_facts(source, commits, paths, branch, release, mainline=next(filter(None, lines), None))


def _read_commit(picker: Picker, source: Source, name: str) -> CommitInfo:
    sha = picker.store.resolve_commit(name)
    if sha is None:
        raise PlanError(
            f"{name}: no such commit",
            why=f"{source.name} does not have it, or the short hash is ambiguous; names of branches are not taken here",
            next_step="give the full hash, or fetch it into that repository",
        )
    info = picker.objects.read_commit(sha)
    if len(info.parents) > 1 and picker.find_mainline(info) is None:
        raise PlanError(
            f"{name}: this is a merge commit",
            why="it does not say that it merges a pull request, so only a person can say which parent is the main line",
            next_step="say it with --mainline, or name the commits that it merges, each with --commit",
        )
    return info


def _list_paths(picker: Picker, commit: CommitInfo) -> Iterable[str]:
    change = picker.read_change(commit.sha)
    return picker.objects.diff_trees(change.before, change.after)


def _read_release(picker: Picker, tip: str, paths: Sequence[str]) -> Release:
    def read(path: str) -> str | None:
        text = picker.objects.read_file(picker.read_tree(tip), path)
        return text.decode("utf-8", "replace") if text is not None else None

    return read_release(read, paths)


def _build_facts(
    source: Source,
    commits: tuple[CommitInfo, ...],
    paths: tuple[str, ...],
    branch: str,
    release: Release,
    *,
    mainline: int | None,
) -> Facts:
    remote, repo = _find_upstream(source)
    numbers = [_read_numbers(commit) for commit in commits]
    original = _find_only({number for _, number in numbers})
    pull = _find_only({number for number, _ in numbers}) if original else None
    hashes = ", ".join(commit.sha[:12] for commit in commits[:8])
    return Facts(
        source=f"{hashes} of {repo or 'a repository'}",
        repo=repo,
        remote=remote,
        title=references.parse_subject(Relations(commits[0]).title).title,
        pull=pull,
        original=original,
        mainline=mainline,
        wanted=tuple(commit.sha for commit in commits),
        touched=paths,
        files=paths,
        branch=branch,
        release=release,
    )


def _read_numbers(commit: CommitInfo) -> tuple[int | None, int | None]:
    """Return the pull request that a commit came with, and its original. One that names no other one is the original."""
    relations = Relations(commit)
    own, subject = relations.pull, references.parse_subject(relations.title)
    original = references.find_original_pull(commit.message, but=own) or subject.original
    return (own, original) if original else (None, own)


def _find_only(numbers: set[int | None]) -> int | None:
    """Return the number that all who name one agree on."""
    named = numbers - {None}
    return named.pop() if len(named) == 1 else None


def _find_upstream(source: Source) -> tuple[str, str]:
    """Return the remote that has an address on GitHub, and its owner/name."""
    remotes = ((name, references.parse_repository(address)) for name, address in source.addresses.items())
    return next((remote for remote in remotes if remote[1]), ("", ""))
