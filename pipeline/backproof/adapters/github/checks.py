"""What marks a commit: a check run, or a commit status where a token may not make a check run.

Branch protection can require either, and a push leaves it behind: it belongs to the commit that it is of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from backproof.adapters.github.failure import RefusedError
from backproof.adapters.github.pulls import GitHubRecord

if TYPE_CHECKING:
    from backproof.adapters.github.client import GitHubClient

MarkKind = Literal["run", "status"]
_TITLE = 140
"""A status holds no longer description."""
_SUMMARY = 65_535
_TRIES = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckMark:
    """How a run ended. `name` is what branch protection can require; `run` tells one mark from the next."""

    name: str
    run: str
    conclusion: Literal["success", "failure", "action_required"]
    title: str
    summary: str


class _Mark(GitHubRecord):
    """A check run or a status as GitHub shows it: both say which run it is of, in a field of their own."""

    external_id: str | None = None
    description: str | None = None
    html_url: str | None = None
    target_url: str | None = None
    context: str = ""
    name: str = ""

    @property
    def url(self) -> str:
        return self.html_url or self.target_url or ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckPlace:
    """The commit that a mark is for."""

    client: GitHubClient
    repo: str
    sha: str
    kind: MarkKind
    mark: CheckMark

    @property
    def path(self) -> str:
        return f"/repos/{self.repo}/" + ("check-runs" if self.kind == "run" else f"statuses/{self.sha}")

    def build_body(self, link: str) -> dict[str, Any]:
        """Return the request's body; `link` is where the whole story stands."""
        mark = self.mark
        if self.kind == "status":
            own = f" ({mark.run})"
            description = f"{mark.title[: _TITLE - len(own)]}{own}"
            state = "success" if mark.conclusion == "success" else "failure"
            return {"state": state, "context": mark.name, "description": description, "target_url": link}
        output = {"title": mark.title[:_TITLE], "summary": mark.summary[:_SUMMARY]}
        return {
            "name": mark.name,
            "head_sha": self.sha,
            "external_id": mark.run,
            "status": "completed",
            "conclusion": mark.conclusion,
            "output": output,
            "details_url": link,
        }

    def find_url(self) -> str | None:
        """Return the address of the mark of this run, None where the commit has none."""
        what, path = f"{self.repo}@{self.sha[:12]}: its checks cannot be read", f"/repos/{self.repo}/commits/{self.sha}"
        if self.kind == "run":
            marks = self.client.list_records(what, f"{path}/check-runs", _Mark, key="check_runs")
            return next((mark.url for mark in marks if mark.external_id == self.mark.run), None)
        marks = self.client.list_records(what, f"{path}/statuses", _Mark)
        ours = (mark for mark in marks if mark.context == self.mark.name)
        return next((mark.url for mark in ours if f"({self.mark.run})" in (mark.description or "")), None)

    def carry_out(self, link: str) -> str:
        """Mark the commit once, and return the address of the mark.

        Raises:
            RefusedError: GitHub refused, or did not answer and the mark is not there.
        """
        what = f"{self.repo}@{self.sha[:12]}: it cannot be marked with `{self.mark.name}`"
        lost: RefusedError | None = None
        for _ in range(_TRIES):
            if (url := self.find_url()) is not None:
                return url
            try:
                return _Mark.model_validate(self.client.write(what, "POST", self.path, self.build_body(link))).url
            except RefusedError as failure:
                if not failure.lost:
                    raise
                lost = failure
        raise lost or RefusedError(what, why="it was not tried", next_step="run the same command again")
