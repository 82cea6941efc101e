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


def from_pull(client: GitHubClient, repo: str, number: int, branch: str = "") -> Facts:
    """Read a pull request, and the release branch that wants it: by default the one that it is made for.

    Raises:
        RefusedError: GitHub refused.
    """
    pull = pulls.get_pull(client, repo, number)
    commits = pulls.add_files(client, repo, pulls.list_commits(client, repo, number))
    net = pulls.list_files(client, repo, number)
    files = tuple(each.filename for each in net)
    on_default = pull.base.ref == pulls.get_default_branch(client, repo)
    wanted_on = branch or ("" if on_default else pull.base.ref)
    gone = find_cancelled(commits, net)
    return Facts(
        source=f"{repo}#{number}",
        repo=repo,
        title=pull.title,
        pull=number,
        original=pull.original,
        wanted=_wanted(pull, commits, gone, on_default=on_default),
        not_wanted=() if on_default else gone,
        touched=tuple(dict.fromkeys(file.filename for each in commits for file in each.files)),
        files=files,
        branch=wanted_on,
        branches=() if wanted_on else _release_branches(client, repo),
        # The branch of the pull request may be gone; one that somebody names must be there.
        release=_release(client, repo, pulls.get_branch_tip(client, repo, branch) if branch else wanted_on, files),
    )


def _release(client: GitHubClient, repo: str, ref: str, files: tuple[str, ...]) -> Release:
    return read_release(lambda path: pulls.read_content(client, repo, path, ref), files) if ref else Release()


def _wanted(
    pull: PullRequest, commits: tuple[Commit, ...], cancelled: tuple[OtherCommit, ...], *, on_default: bool
) -> tuple[str, ...]:
    """Commits to pick: those of the pull request, or the one that landed on the main branch."""
    if on_default and pull.merged and pull.merge_commit_sha:
        return (pull.merge_commit_sha,)
    gone = {each.commit for each in cancelled}
    return tuple(each.sha for each in commits if each.sha not in gone and len(each.parents) < 2)


def _release_branches(client: GitHubClient, repo: str) -> tuple[str, ...]:
    for prefix in _RELEASES:
        if found := pulls.list_branches(client, repo, prefix):
            return found
    return ()
