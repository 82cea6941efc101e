"""A backport as a pull request: what a run has proved, with its picks, drops and fix-ups, as a draft for its maintainers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git import Store
from backproof.adapters.github import pulls
from backproof.adapters.github.proposal import ChangedBlob, Proposal, ProposedCommit
from backproof.core.errors import HostError, NeedsReview, PlanError
from backproof.core.model import Outcome
from backproof.report import render
from backproof.upstream.publish.ready import must_be_on_tip, must_hold, require_pull

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.adapters.github import GitHubClient
    from backproof.records.proof import FixupRecord, PickRecord
    from backproof.upstream.publish.ready import Loaded

TITLE = "[Backport][{branch}] {title} (from #{original})"
_SIGNER = re.compile(r"[^<>\r\n]{1,200} <[^<>\s]{1,200}@[^<>\s]{1,200}>")


@dataclass(frozen=True, kw_only=True, slots=True)
class ProposalWishes:
    """How the pull request is to look.

    Args:
        signer: `Name <address>` of the person who asked, for Signed-off-by.
        title: with {branch}, {title} and {original}.
        fork: owner/name where the branch goes; by default the upstream itself.
    """

    signer: str
    title: str = TITLE
    fork: str = ""


def prepare_proposal(client: GitHubClient, loaded: Loaded, wishes: ProposalWishes) -> Proposal:
    """Check everything and read everything; write nothing.

    Raises:
        HostError, NeedsReview, PlanError: the run may not be proposed.
        RefusedError: GitHub refused.
    """
    pick, fixup = _require_landed(loaded)
    if not _SIGNER.fullmatch(wishes.signer):
        raise PlanError(
            f"{wishes.signer!r}: nobody can sign off by that",
            why="Signed-off-by names a person and an address",
            next_step='write it as "Name <address>"',
        )
    must_be_on_tip(client, loaded)
    upstream = loaded.plan.upstream
    original = upstream.original_pull or require_pull(loaded)
    title = pulls.get_pull(client, upstream.repo, original).title
    facts = {"{branch}": pick.branch, "{title}": title, "{original}": str(original)}
    return Proposal(
        client=client,
        repo=upstream.repo,
        home=wishes.fork or upstream.repo,
        base=pick.branch,
        branch=f"backproof/{loaded.run.kit}/{pick.branch}",
        parent=pick.base,
        commits=tuple(_list_commits(loaded, pick, fixup, wishes.signer)),
        title=re.sub(r"\{(?:branch|title|original)\}", lambda match: facts[match[0]], wishes.title)[:250],
        body=f"Backport of #{original} onto `{pick.branch}`.\n\n{_describe_parts(pick, fixup)}\n\n---\n\n"
        + render.render_comment(loaded.story, loaded.plan),
    )


def _require_landed(loaded: Loaded) -> tuple[PickRecord, FixupRecord]:
    must_hold(loaded)
    pick, fixup = loaded.story.pick, loaded.story.fixup
    if pick is None or fixup is None or loaded.run.outcome is not Outcome.PASS:
        raise NeedsReview(
            f"{loaded.ledger.folder}: only a backport that was proved is proposed",
            why=loaded.run.sentence,
            next_step="settle what the report names, run again, and propose that",
        )
    return pick, fixup


def _list_commits(loaded: Loaded, pick: PickRecord, fixup: FixupRecord, signer: str) -> Iterator[ProposedCommit]:
    """Yield the picks as one commit, as GitHub squashes them anyway, and the fix-ups as another."""
    store = Store(loaded.ledger.store)
    origins = "\n".join(f"(cherry picked from commit {commit.source})" for commit in pick.commits if commit.landed)
    authors = dict.fromkeys(f"Co-authored-by: {commit.author}" for commit in pick.commits if commit.landed)
    subject = pick.commits[0].subject if pick.commits else loaded.plan.title
    trailers = "\n".join((*authors, f"Signed-off-by: {signer}"))
    message = f"{subject}\n\n{origins}\n\n{trailers}\n"
    yield _make_commit(store, message, pick.base_tree, pick.head_tree)
    applied = [item for item in fixup.fixups if item.outcome == "applied"]
    if fixup.head_tree != pick.head_tree:
        reasons = "\n".join(f"{item.id}: {item.reason}" for item in applied)
        message = f"Fix up the backport for {pick.branch}\n\n{reasons}\n\nSigned-off-by: {signer}\n"
        yield _make_commit(store, message, pick.head_tree, fixup.head_tree)


def _make_commit(store: Store, message: str, before: str, after: str) -> ProposedCommit:
    objects = store.objects
    if not objects.find_object(after):
        raise HostError(
            "the run has no objects to make commits of",
            why="its object store is not in the folder, as in an artifact of another job",
            next_step="propose from the run folder of the machine that made the run, or run again",
        )
    files = {
        path: ChangedBlob(sha=new.oid, mode=new.mode, content=objects.read_object(new.oid, "blob"))
        if new
        else ChangedBlob(sha=None, mode=old.mode if old else "100644")
        for path, (old, new) in objects.diff_trees(before, after).items()
    }
    return ProposedCommit(message=message, before=before, tree=after, files=files)


def _describe_parts(pick: PickRecord, fixup: FixupRecord) -> str:
    """List what it consists of; names are in spans of code, where nothing of them is a link."""
    lines = [f"- picked `{commit.source}`" for commit in pick.commits if commit.landed]
    lines += [f"- dropped `{_plain(str(path))}`" for commit in pick.commits for path in commit.dropped]
    lines += [f"- fix-up `{_plain(item.id)}`" for item in fixup.fixups if item.outcome == "applied"]
    return "\n".join(lines)


def _plain(name: str) -> str:
    return re.sub(r"[`\s]+", " ", name)
