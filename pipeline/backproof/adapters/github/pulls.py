"""Pull requests: text, commits, files, reviews and checks, read through REST."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from pydantic import AliasPath, BaseModel, ConfigDict, Field

from backproof.adapters.github import references
from backproof.adapters.github.failure import RefusedError, translated_errors
from backproof.core.errors import PlanError

if TYPE_CHECKING:
    from backproof.adapters.github.client import GitHubClient

GHOST = "ghost"
"""GitHub's own name for the author whose account was deleted: the answer has none."""
_COMMITS = 250
_DETAILS = 40
_FILES = 3000
_URL = re.compile(
    r"(?:(?:https?://)?[\w-]+(?:\.[\w-]+)+(?::\d+)?/)?(?P<repo>[\w.-]{1,100}/[\w.-]{1,100})(?:/pull/|#)(?P<number>\d{1,9})(?:[/?#].*)?"
)


class GitHubRecord(BaseModel):
    """The fields of an answer that are read; GitHub adds others at any time."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Ref(GitHubRecord):
    ref: str = ""
    sha: str = ""


class PullRequest(GitHubRecord):
    """One pull request."""

    number: int
    title: str
    body: str | None = None
    state: str
    locked: bool = False
    merged: bool = False
    merge_commit_sha: str | None = None
    html_url: str
    head: _Ref
    base: _Ref

    @property
    def text(self) -> str:
        return (self.body or "").replace("\r\n", "\n")

    @property
    def original(self) -> int | None:
        """The pull request that this one names as the one that it backports."""
        repo = "/".join(self.html_url.split("/")[3:5])
        return references.find_original_pull(f"{self.title}\n{self.text}", but=self.number, repo=repo)


class ChangedFile(GitHubRecord):
    """One path of a diff."""

    filename: str
    status: str
    sha: str | None = None
    previous_filename: str | None = None


class _Parent(GitHubRecord):
    sha: str


class Commit(GitHubRecord):
    """One commit of a pull request; `files` only where they were asked for."""

    sha: str
    message: Annotated[str, Field(validation_alias=AliasPath("commit", "message"))]
    parents: tuple[_Parent, ...] = ()
    files: tuple[ChangedFile, ...] = ()

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0].strip()


class Review(GitHubRecord):
    """The text that stands over a review."""

    body: str | None = None
    state: str = ""
    html_url: str = ""
    author: Annotated[str, Field(validation_alias=AliasPath("user", "login"))] = GHOST


class CheckRun(GitHubRecord):
    """One check of a commit."""

    name: str
    status: str
    conclusion: str | None = None
    html_url: str | None = None


class _Branch(GitHubRecord):
    tip: Annotated[str, Field(validation_alias=AliasPath("commit", "sha"))]


class _File(GitHubRecord):
    encoding: str = ""
    content: str = ""


class _Repository(GitHubRecord):
    default_branch: str = Field(min_length=1)


def parse_reference(text: str) -> tuple[str, int]:
    """Return repository and number of `owner/name#12` or of the address of a pull request.

    Raises:
        PlanError: the text is something else.
    """
    match = _URL.fullmatch(text.strip())
    if match is None:
        raise PlanError(
            f"{text}: not a pull request",
            why="it is neither an address like https://github.com/owner/name/pull/12 nor owner/name#12",
            next_step="copy the address of the pull request from the browser",
        )
    return match["repo"], int(match["number"])


def get_pull(client: GitHubClient, repo: str, number: int) -> PullRequest:
    return client.get_record(f"{repo}#{number} cannot be read", f"/repos/{repo}/pulls/{number}", PullRequest)


def list_commits(client: GitHubClient, repo: str, number: int) -> tuple[Commit, ...]:
    """Return the commits of a pull request, oldest first (GitHub gives 250 at most)."""
    what = f"{repo}#{number}: its commits cannot be read"
    return client.list_records(what, f"/repos/{repo}/pulls/{number}/commits", Commit, most=_COMMITS)


def add_files(client: GitHubClient, repo: str, listed: tuple[Commit, ...]) -> tuple[Commit, ...]:
    """Return the commits with the paths that each changes; one request each, so only the first 40."""
    return tuple(get_commit(client, repo, item.sha) for item in listed[:_DETAILS])


def get_commit(client: GitHubClient, repo: str, sha: str) -> Commit:
    return client.get_record(
        f"{repo}@{sha[:12]} cannot be read", f"/repos/{repo}/commits/{quote(sha, safe='')}", Commit
    )


def list_files(client: GitHubClient, repo: str, number: int) -> tuple[ChangedFile, ...]:
    what = f"{repo}#{number}: its files cannot be read"
    return client.list_records(what, f"/repos/{repo}/pulls/{number}/files", ChangedFile, most=_FILES)


def list_reviews(client: GitHubClient, repo: str, number: int) -> tuple[Review, ...]:
    what = f"{repo}#{number}: its reviews cannot be read"
    return client.list_records(what, f"/repos/{repo}/pulls/{number}/reviews", Review)


def list_check_runs(client: GitHubClient, repo: str, sha: str) -> tuple[CheckRun, ...]:
    what = f"{repo}@{sha[:12]}: its checks cannot be read"
    return client.list_records(what, f"/repos/{repo}/commits/{sha}/check-runs", CheckRun, key="check_runs")


def get_branch_tip(client: GitHubClient, repo: str, name: str) -> str:
    what = f"{repo}: the branch {name} cannot be read"
    return client.get_record(what, f"/repos/{repo}/branches/{quote(name, safe='')}", _Branch).tip


def get_default_branch(client: GitHubClient, repo: str) -> str:
    return client.get_record(f"{repo} cannot be read", f"/repos/{repo}", _Repository).default_branch


def list_branches(client: GitHubClient, repo: str, prefix: str) -> tuple[str, ...]:
    """Return the names of the branches that start with a prefix."""
    what = f"{repo}: its branches cannot be read"
    refs = client.get_json(what, f"/repos/{repo}/git/matching-refs/heads/{quote(prefix)}")
    with translated_errors(what):
        return tuple(_Ref.model_validate(item).ref.removeprefix("refs/heads/") for item in refs)


def read_content(client: GitHubClient, repo: str, path: str, ref: str) -> str | None:
    """Return the text of a file at a commit; None where it is not there (or is larger than 1 MB, GitHub's limit)."""
    what = f"{repo}@{ref[:12]}: {path} cannot be read"
    try:
        data: Any = client.get_json(what, f"/repos/{repo}/contents/{quote(path)}", {"ref": ref})
    except RefusedError as refused:
        if refused.status == 404:
            return None
        raise
    if not isinstance(data, dict):
        return None
    with translated_errors(what):
        file = _File.model_validate(data)
        return base64.b64decode(file.content).decode("utf-8", "replace") if file.encoding == "base64" else None
