"""Reads a pull request of GitHub."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.github import pulls
from backproof.scaffold.facts import Facts
from backproof.scaffold.release import Release, read_release
from backproof.upstream.audit.history import find_cancelled

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.pulls import Commit, PullRequest
    from backproof.records.proof import OtherCommit

_RELEASES = "releases/", "release/", "release-", "stable/", "v"


def read_pull(client: GitHubClient, repo: str, number: int, branch: str = "") -> Facts:
    """Read a pull request, and the release branch that wants it: by default the one that it is made for.

    Raises:
        RefusedError: GitHub refused.
    """
    pull = pulls.get_pull(client, repo, number)
    commits = pulls.add_files(client, repo, pulls.list_commits(client, repo, number))
    net = pulls.list_files(client, repo, number)
    files = tuple(file.filename for file in net)
    on_default = pull.base.ref == pulls.get_default_branch(client, repo)
    wanted_on = branch or ("" if on_default else pull.base.ref)
    gone = find_cancelled(commits, net)
    return Facts(
        source=f"{repo}#{number}",
        repo=repo,
        title=pull.title,
        pull=None if on_default else number,
        original=number if on_default else pull.original,
        wanted=_list_wanted(pull, commits, gone, on_default=on_default),
        not_wanted=() if on_default else gone,
        touched=tuple(dict.fromkeys(file.filename for commit in commits for file in commit.files)),
        files=files,
        branch=wanted_on,
        branches=() if wanted_on else _find_release_branches(client, repo),
        # The branch of the pull request may be gone; one that somebody names must be there.
        release=_read_release(client, repo, pulls.get_branch_tip(client, repo, branch) if branch else wanted_on, files),
    )


def _read_release(client: GitHubClient, repo: str, ref: str, files: tuple[str, ...]) -> Release:
    return read_release(lambda path: pulls.read_content(client, repo, path, ref), files) if ref else Release()


def _list_wanted(
    pull: PullRequest, commits: tuple[Commit, ...], cancelled: tuple[OtherCommit, ...], *, on_default: bool
) -> tuple[str, ...]:
    """Return the commits to pick: those of the pull request, or the one that landed on the main branch."""
    if on_default and pull.merged and pull.merge_commit_sha:
        return (pull.merge_commit_sha,)
    gone = {commit.commit for commit in cancelled}
    return tuple(commit.sha for commit in commits if commit.sha not in gone and len(commit.parents) < 2)


def _find_release_branches(client: GitHubClient, repo: str) -> tuple[str, ...]:
    for prefix in _RELEASES:
        if branches := pulls.list_branches(client, repo, prefix):
            return branches
    return ()
