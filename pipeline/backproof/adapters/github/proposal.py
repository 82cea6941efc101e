"""A pull request made of objects: blobs, trees and commits, a branch, and the draft that asks for it.

A tree that GitHub names otherwise than we do is not the one that was proved; nothing is made of it.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import AliasPath, Field

from backproof.adapters.github.failure import WRITE_AGAIN, RefusedError, translated_errors
from backproof.adapters.github.pulls import GitHubRecord, get_branch_tip, list_branches
from backproof.core.errors import GitHubError, NeedsReview

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from backproof.adapters.github.client import GitHubClient

_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedBlob:
    """A file as a commit leaves it; without content it is deleted."""

    sha: str | None
    mode: str
    content: bytes = b""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposedCommit:
    """A commit to make: its files by path, the tree before it, and the tree that must come of it."""

    message: str
    before: str
    tree: str
    files: Mapping[str, ChangedBlob]


class _Made(GitHubRecord):
    sha: str


class _Tip(GitHubRecord):
    tree: str = Field(validation_alias=AliasPath("commit", "tree", "sha"))


class OpenedPull(GitHubRecord):
    """A pull request that is open."""

    number: int
    html_url: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """A draft pull request, and where its branch is: the repository itself, or a fork."""

    client: GitHubClient
    repo: str
    home: str
    base: str
    branch: str
    parent: str
    commits: tuple[ProposedCommit, ...]
    title: str
    body: str

    @property
    def head(self) -> str:
        return f"{self.home.partition('/')[0]}:{self.branch}"

    def list_requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each request that makes it, path and body; what only GitHub names is in words."""
        parent = self.parent
        for commit in self.commits:
            for file in commit.files.values():
                if file.sha:
                    yield f"/repos/{self.home}/git/blobs", _blob_body(file)
            yield f"/repos/{self.home}/git/trees", _tree_body(commit)
            yield f"/repos/{self.home}/git/commits", _commit_body(commit, parent)
            parent = "the commit before"
        yield f"/repos/{self.home}/git/refs", self._ref_body(parent)
        yield f"/repos/{self.repo}/pulls", self._pull_body()

    def find_open(self) -> OpenedPull | None:
        """Return the open pull request of this branch, if there is one."""
        what = f"{self.repo}: its pull requests cannot be listed"
        query = {"head": self.head, "base": self.base, "state": "open"}
        for item in self.client.list_items(what, f"/repos/{self.repo}/pulls", query):
            with translated_errors(what):
                return OpenedPull.model_validate(item)
        return None

    def carry_out(self) -> OpenedPull:
        """Make what is missing, and return the pull request. A second call makes nothing again.

        Raises:
            RefusedError: GitHub refused.
            NeedsReview: the branch is there with other content.
        """
        if opened := self.find_open():
            return opened
        if not self._has_branch():
            self._make_branch()
        return self._open_pull()

    def _has_branch(self) -> bool:
        if self.branch not in list_branches(self.client, self.home, self.branch):
            return False
        tip = get_branch_tip(self.client, self.home, self.branch)
        what = f"{self.home}@{tip[:12]} cannot be read"
        if self.client.get_record(what, f"/repos/{self.home}/commits/{tip}", _Tip).tree != self.commits[-1].tree:
            raise NeedsReview(
                f"{self.home} has a branch {self.branch} with other content",
                why="it is somebody's work, or of an earlier run",
                next_step="delete it there, or open the pull request by hand",
            )
        return True

    def _make_branch(self) -> None:
        parent = self.parent
        for commit in self.commits:
            for path, file in commit.files.items():
                if file.sha:
                    self._make("blobs", _blob_body(file), f"{path}: its content", file.sha)
            self._make("trees", _tree_body(commit), "the tree", commit.tree)
            parent = self._make("commits", _commit_body(commit, parent), "the commit")
        what = f"{self.home}: the branch {self.branch} cannot be made"
        self.client.write(what, "POST", f"/repos/{self.home}/git/refs", self._ref_body(parent))

    def _make(self, kind: str, body: dict[str, Any], name: str, wanted: str = "") -> str:
        what = f"{self.home}: {name} cannot be written"
        answer = self.client.write(what, "POST", f"/repos/{self.home}/git/{kind}", body)
        with translated_errors(what):
            made = _Made.model_validate(answer).sha
        if wanted and made != wanted:
            raise GitHubError(
                f"{self.home}: {name} is not what was proved",
                why=f"GitHub made {made} of it, the run has {wanted}",
                next_step="nothing was opened; run again on the tip of the branch, and tell us if it stays",
            )
        return made

    def _open_pull(self) -> OpenedPull:
        """A reply that is lost is looked for before the request is made again."""
        what, lost = f"{self.repo}: the pull request cannot be opened", None
        for _ in range(_TRIES):
            try:
                answer = self.client.write(what, "POST", f"/repos/{self.repo}/pulls", self._pull_body())
            except RefusedError as failure:
                if not failure.lost:
                    raise
                lost = failure
                if opened := self.find_open():
                    return opened
            else:
                with translated_errors(what):
                    return OpenedPull.model_validate(answer)
        raise lost or RefusedError(what, why="it was not tried", next_step=WRITE_AGAIN)

    def _ref_body(self, commit: str) -> dict[str, Any]:
        return {"ref": f"refs/heads/{self.branch}", "sha": commit}

    def _pull_body(self) -> dict[str, Any]:
        return {"title": self.title, "head": self.head, "base": self.base, "body": self.body, "draft": True}


def _blob_body(file: ChangedBlob) -> dict[str, Any]:
    return {"content": base64.b64encode(file.content).decode(), "encoding": "base64"}


def _tree_body(commit: ProposedCommit) -> dict[str, Any]:
    entries = [
        {"path": path, "mode": file.mode, "type": "blob", "sha": file.sha} for path, file in commit.files.items()
    ]
    return {"base_tree": commit.before, "tree": entries}


def _commit_body(commit: ProposedCommit, parent: str) -> dict[str, Any]:
    return {"message": commit.message, "tree": commit.tree, "parents": [parent]}
