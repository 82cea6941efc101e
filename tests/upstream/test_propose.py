"""A proved backport becomes one draft pull request, of the trees that were proved and of nothing else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from backproof.core.errors import BackproofError, GitHubError, NeedsReview, PlanError
from backproof.stages import REGISTRY
from backproof.upstream import publish
from github_fixtures import TOKEN
from plain_job import PlainJob, make_job
from repositories import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.adapters.github.client import GitHubClient
    from server import StandIn

WISHES = publish.ProposalWishes(
    signer="Ann Asker <ann@example.org>", title="[Cherry-pick][{branch}]{title} (from #{original})"
)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    """A run that passed: one pick with a drop, and one fix-up."""
    job = make_job(tmp_path_factory.mktemp("propose") / "job")
    done = job.run(GIT_CONFIG_GLOBAL=os.devnull)
    assert done.returncode == 0, done.stdout + done.stderr
    return job


@pytest.fixture
def upstream(hub: StandIn, job: PlainJob, tmp_path: Path) -> Repository:
    """The upstream as GitHub has it: the same objects in a repository of its own."""
    job.upstream.git("clone", "--quiet", "--bare", ".", str(tmp_path / "github.git"))
    hub.world.objects = tmp_path / "github.git"
    hub.world.branches["release"] = job.upstream.git("rev-parse", "release")
    hub.world.pull(5, title="Fix the {branch} of the answer")
    return Repository(tmp_path / "github.git")


def prepare(client: GitHubClient, job: PlainJob, wishes: publish.ProposalWishes = WISHES) -> publish.Proposal:
    return publish.prepare_proposal(client, publish.load_publishable(job.run_folder, REGISTRY), wishes)


def test_it_opens_one_draft_of_what_was_proved(
    hub: StandIn, client: GitHubClient, upstream: Repository, job: PlainJob
) -> None:
    proposal = prepare(client, job)
    assert proposal.carry_out().number == 77
    (opened,) = hub.world.opened
    assert (opened["draft"], opened["base"], opened["head"]) == (True, "release", "example:backproof/plain/release")
    assert opened["title"] == "[Cherry-pick][release]Fix the {branch} of the answer (from #5)"
    fixed = json.loads((job.run_folder / "fixup/fixup.json").read_text())
    tip = hub.world.branches["backproof/plain/release"]
    assert upstream.git("rev-parse", f"{tip}^{{tree}}") == fixed["head_tree"]
    assert upstream.git("rev-parse", f"{tip}~2") == hub.world.branches["release"]


def test_its_commits_and_its_text_name_picks_drops_fix_ups_and_who_asked(
    hub: StandIn, client: GitHubClient, upstream: Repository, job: PlainJob
) -> None:
    prepare(client, job).carry_out()
    messages = upstream.git("log", "--format=%B", "-2", hub.world.branches["backproof/plain/release"])
    fix = job.upstream.git("rev-parse", "main")
    assert messages.count("Signed-off-by: Ann Asker <ann@example.org>") == 2
    assert f"(cherry picked from commit {fix})" in messages
    assert "limit: a review asked for it" in messages
    (opened,) = hub.world.opened
    for line in (f"- picked `{fix}`", "- dropped `notes/5.md`", "- fix-up `limit`"):
        assert line in opened["body"], opened["body"]


@pytest.mark.usefixtures("upstream")
def test_the_dry_run_shows_what_would_be_sent_and_sends_nothing(
    hub: StandIn, client: GitHubClient, job: PlainJob
) -> None:
    proposal = prepare(client, job)
    shown = list(proposal.list_requests())
    assert [path for path in hub.made("POST") if path != "/graphql"] == []
    proposal.carry_out()
    sent = [(each.path, each.body) for each in hub.requests if each.method == "POST" and each.path != "/graphql"]
    assert [path for path, _ in shown] == [path for path, _ in sent]
    of_github = {"parents", "sha"}
    for (_, body), (_, real) in zip(shown, sent, strict=True):
        assert {key: body[key] for key in body.keys() - of_github} == {
            key: real[key] for key in real.keys() - of_github
        }


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("kind", ["lost-reply", "502-done", "502", "truncated"])
def test_no_fault_opens_two(hub: StandIn, client: GitHubClient, job: PlainJob, kind: str) -> None:
    proposal = prepare(client, job)
    hub.fault(kind, "POST", "/pulls")  # type: ignore[arg-type] # one of the kinds
    assert proposal.carry_out() == proposal.carry_out()
    assert len(hub.world.opened) == 1


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("part", ["/git/blobs", "/git/trees", "/git/commits", "/git/refs"])
def test_after_a_lost_reply_the_next_one_goes_on(hub: StandIn, client: GitHubClient, job: PlainJob, part: str) -> None:
    proposal = prepare(client, job)
    hub.fault("lost-reply", "POST", part)
    with pytest.raises(GitHubError):
        proposal.carry_out()
    assert hub.world.opened == []
    proposal.carry_out()
    assert len(hub.world.opened) == 1


@pytest.mark.usefixtures("upstream")
def test_somebody_elses_branch_is_left_alone(hub: StandIn, client: GitHubClient, job: PlainJob) -> None:
    other = job.upstream.git("rev-parse", "main")
    hub.world.branches["backproof/plain/release"] = other
    hub.world.commits[other] = {"tree": "0" * 40}
    with pytest.raises(NeedsReview, match="with other content"):
        prepare(client, job).carry_out()
    assert hub.world.branches["backproof/plain/release"] == other


def test_another_tree_than_the_proved_one_opens_nothing(
    hub: StandIn, client: GitHubClient, upstream: Repository, job: PlainJob
) -> None:
    proposal = prepare(client, job)
    first, *others = proposal.commits
    files = {path: replace(file, content=file.content + b"\n# another\n") for path, file in first.files.items()}
    proposal = replace(proposal, commits=(replace(first, files=files), *others))
    with pytest.raises(GitHubError, match="not what was proved"):
        proposal.carry_out()
    assert (hub.world.opened, list(hub.world.branches)) == ([], ["release"])
    assert upstream.git("for-each-ref", "refs/heads/backproof") == ""


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("signer", ["Ann", "Ann <ann>", "Ann <a@b>\nSigned-off-by: X <x@y>", ""])
def test_nobody_signs_off(client: GitHubClient, job: PlainJob, signer: str) -> None:
    with pytest.raises(PlanError, match="sign off"):
        prepare(client, job, publish.ProposalWishes(signer=signer))


@pytest.mark.usefixtures("upstream")
def test_a_branch_that_moved_is_not_proposed_to(hub: StandIn, client: GitHubClient, job: PlainJob) -> None:
    hub.world.branches["release"] = "1" * 40
    with pytest.raises(BackproofError, match="is at 111111111111"):
        prepare(client, job)


@pytest.mark.usefixtures("upstream")
def test_the_command_opens_only_when_asked(hub: StandIn, job: PlainJob) -> None:
    argv = ["propose", str(job.run_folder), "--signed-off-by", WISHES.signer]
    env = {"GITHUB_API_URL": hub.url, "GH_TOKEN": TOKEN}
    shown = job.backproof(*argv, **env)
    assert (shown.returncode, hub.world.opened) == (0, []), shown.stderr
    assert "would send POST /repos/example/project/pulls" in shown.stdout
    assert job.backproof(*argv, "--publish", **env).stdout == "open: https://github.com/example/project/pull/77\n"
    again = job.backproof(*argv, **env)
    assert again.stdout == "open already: https://github.com/example/project/pull/77\n"
    assert TOKEN not in shown.stdout + shown.stderr
