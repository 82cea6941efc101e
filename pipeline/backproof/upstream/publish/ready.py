"""Whether a run may be published. The folder may come from another machine, so nothing in it is taken at its word.

Level and outcome are computed again from what the folder shows; run.json is only compared with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.github import pulls
from backproof.core.errors import HostError, NeedsReview, PlanError
from backproof.core.model import Outcome
from backproof.core.plural import format_count, is_or_are
from backproof.devices import DEVICES
from backproof.kit.loader import load_plan
from backproof.rundir import loaded_run, subject
from backproof.rundir.ledger import Ledger
from backproof.verdict import run_verdict
from backproof.verdict.sentences import HEADLINES

if TYPE_CHECKING:
    from backproof.adapters.github import GitHubClient
    from backproof.adapters.github.pulls import PullRequest
    from backproof.kit.plan import Plan
    from backproof.records.proof import Run
    from backproof.rundir.loaded_run import LoadedRun
    from backproof.rundir.registry import Registry

_SAYABLE = {Outcome.PASS, Outcome.FAIL}
"""What is worth a comment upstream; "we could not tell" is for us to mend."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """A run as its folder shows it now, and the plan that it is about."""

    ledger: Ledger
    plan: Plan
    story: LoadedRun
    said: Run

    @property
    def run(self) -> Run:
        return self.story.run


def load_publishable(folder: Path, registry: Registry, kit: Path | None = None) -> Loaded:
    """Read a run folder and judge it again.

    Args:
        folder: the run.
        registry: the stages whose records it may hold.
        kit: its plan; by default the one that run.json names. For a run of another machine, name your own.

    Raises:
        PlanError: no run of this version is there, or it is of another kit.
    """
    ledger = Ledger(folder)
    said = loaded_run.require_run(ledger)
    kit = kit or Path(said.settings.kit)
    the_plan = load_plan(kit, DEVICES)
    subject.must_be_of_kit(folder, said, kit, the_plan.id)
    story = run_verdict.read_run(ledger, said, registry, the_plan)
    return Loaded(ledger=ledger, plan=the_plan, story=story, said=said)


def must_hold(loaded: Loaded) -> None:
    """The evidence carries what would be said.

    Raises:
        HostError: evidence is missing or altered, or run.json says more than it carries.
        NeedsReview: the outcome is not one for upstream.
    """
    run, said = loaded.run, loaded.said
    if altered := sorted(loaded.story.altered):
        raise HostError(
            f"{loaded.ledger.folder}: {format_count(len(altered), 'evidence file')} {is_or_are(len(altered))} not what the run recorded",
            why=f"missing, or with another hash: {', '.join(altered[:5])}",
            next_step="bring the run folder over whole, or make the run again",
        )
    if said.level is not None and (run.level is None or said.level > run.level):
        raise HostError(
            f"{loaded.ledger.folder}: run.json says level {said.level}, its evidence carries {run.level}",
            why="a level needs evidence of its own kind, from the same host and boot as the results",
            next_step="run `backproof run RUN --only report` on the folder, and look at what it says is not established",
        )
    if run.outcome not in _SAYABLE:
        raise NeedsReview(
            f"{loaded.ledger.folder}: {HEADLINES[run.outcome]}",
            why=run.sentence,
            next_step="settle what the report names, run again, and publish that",
        )


def must_be_current(client: GitHubClient, loaded: Loaded) -> PullRequest:
    """The branch and the pull request are still those that the run is about.

    Raises:
        NeedsReview: the branch moved on, the pull request has other commits, is closed or locked.
        RefusedError: GitHub refused.
    """
    upstream, number = loaded.plan.upstream, require_pull(loaded)
    pull = pulls.get_pull(client, upstream.repo, number)
    _open_to_us(pull)
    must_be_on_tip(client, loaded)
    _its_commits(client, loaded, number)
    return pull


def require_pull(loaded: Loaded) -> int:
    """Return the number of the pull request that the plan is about.

    Raises:
        PlanError: it names none.
    """
    number = loaded.plan.upstream.pull
    if number is None:
        raise PlanError(
            f"{loaded.plan.id}: the plan names no pull request",
            why="[upstream] pull is where the comment would go",
            next_step="add it to plan.toml",
        )
    return number


def _open_to_us(pull: PullRequest) -> None:
    # A closed backport needs no proof any more; a merged one still does: it is what people run.
    closed = pull.state == "closed" and not pull.merged
    if pull.locked or closed:
        raise HostError(
            f"{pull.html_url}: the conversation is {'locked' if pull.locked else 'closed'}",
            why="its maintainers want no more comments there" if pull.locked else "it was closed without a merge",
            next_step="ask them, and post comment.md of the run where they want it",
        )


def must_be_on_tip(client: GitHubClient, loaded: Loaded) -> None:
    """Raise NeedsReview where the release branch has moved since the run."""
    pick = loaded.story.pick
    if pick is None:
        raise HostError(
            f"{loaded.ledger.folder}: what landed cannot be read",
            why="there is no pick/pick.json that holds",
            next_step="make the run again",
        )
    if loaded.run.subject.published:
        raise NeedsReview(
            f"this run is of {loaded.run.place}, not of the branch {pick.branch}",
            why="the branch itself was not read, so nothing is known of its tip",
            next_step="`backproof run KIT --repo` on a clone of upstream, and publish that run",
        )
    tip = pulls.get_branch_tip(client, loaded.plan.upstream.repo, pick.branch)
    if tip != pick.base:
        raise NeedsReview(
            f"{pick.branch} is at {tip[:12]}, this run is of {pick.base[:12]}",
            why="the branch has moved since, or the run was of another repository: nothing is known of the tip",
            next_step="run again on the tip, and publish that run",
        )


def _its_commits(client: GitHubClient, loaded: Loaded, number: int) -> None:
    """What was picked is upstream's, not somebody's reconstruction, and still part of a pull request of the plan."""
    upstream = loaded.plan.upstream
    picked = loaded.story.pick.commits if loaded.story.pick else ()
    known = {commit.sha for commit in pulls.list_commits(client, upstream.repo, number)}
    unknown = [item.source for item in picked if item.source not in known]
    if unknown and upstream.original_pull:
        original = pulls.get_pull(client, upstream.repo, upstream.original_pull)
        known |= {original.merge_commit_sha or ""}
        known |= {commit.sha for commit in pulls.list_commits(client, upstream.repo, upstream.original_pull)}
        unknown = [item for item in unknown if item not in known]
    if unknown:
        raise NeedsReview(
            f"{upstream.repo}#{number} does not have {', '.join(item[:12] for item in unknown)}",
            why="the pull request was pushed over since, or the run was of a reconstruction",
            next_step="fetch the pull request, run again, and publish that run",
        )
