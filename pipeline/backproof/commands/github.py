"""The commands that speak with GitHub, or are for its Actions. Printing happens here and nowhere below."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import (
    FILE,
    FOLDER,
    json_option,
    kit_option,
    language_option,
    require_signer,
    signer_option,
)
from backproof.commands.output import actions_job, print_json, print_line, print_text, say
from backproof.core.errors import ExitCode, PlanError

if TYPE_CHECKING:
    from backproof.records.audit import AuditRecord
    from backproof.report.render import Links
    from backproof.upstream import publish
    from backproof.upstream.audit import Subject
    from backproof.upstream.publish import MarkKind, Post


@click.command()
@click.argument("subject", metavar="KIT|PR")
@click.option("--run", "folder", type=FOLDER, help="Also look into the tree of this run, and keep the audit there.")
@json_option
def audit(*, subject: str, folder: Path | None, as_json: bool) -> None:
    """Compare what a pull request was asked for and claims with what its code contains.

    KIT is a kit folder; PR is an address or owner/name#number. Review threads need GH_TOKEN.
    Exit code 3: something is marked resolved, is not there, and no fix-up of the kit closes it.
    """
    from backproof.app import execution
    from backproof.records.audit import AuditRecord
    from backproof.stages import audit as auditing
    from backproof.upstream.audit import examine_pull
    from backproof.upstream.connection import connect

    examined = _subject(subject, folder)
    if folder:
        record = execution.add_beside(
            folder, say, auditing, AuditRecord, auditing.AuditOptions(client=connect(), subject=examined, named=subject)
        )
    else:
        record = examine_pull(connect(), examined)
    print_json(record) if as_json else _print_audit(record)
    sys.exit(ExitCode.PERSON if _open(record) else ExitCode.PASS)


def _subject(text: str, folder: Path | None) -> Subject:
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.rundir import loaded_run
    from backproof.rundir.ledger import Ledger
    from backproof.rundir.subject import must_be_of_kit
    from backproof.stages import REGISTRY
    from backproof.upstream.audit import Subject
    from backproof.upstream.audit.run_tree import open_run
    from backproof.upstream.connection import parse_pull

    kit, tree, run = Path(text), None, None
    if folder:
        tree, run = open_run(Ledger(folder), loaded_run.require_run(Ledger(folder)), REGISTRY)
    if not kit.exists():
        repo, number = parse_pull(text)
        return Subject(repo=repo, pull=number, tree=tree, run=run)
    found = load_plan(kit, DEVICES)
    if folder and run:
        must_be_of_kit(folder, run.run, kit, found.id)
    if found.upstream.pull is None:
        raise PlanError(
            f"{kit}: the plan names no pull request",
            why="[upstream] pull is what would be audited",
            next_step="name the pull request itself: owner/name#number",
        )
    return Subject(
        repo=found.upstream.repo,
        pull=found.upstream.pull,
        original=found.upstream.original_pull,
        plan=found,
        kit=kit,
        tree=tree,
        run=run,
    )


def _open(record: AuditRecord) -> bool:
    return any(request.resolved and request.in_head == "no" and not request.closed_by for request in record.requests)


def _print_audit(record: AuditRecord) -> None:
    print_line(f"{record.repo}#{record.pull} at {record.head[:12]}: {record.title}")
    for request in record.requests:
        state = "resolved" if request.resolved else "open"
        where = f"{request.path}:{request.lines}" if request.path else "the review"
        run = "" if request.in_run == "not-looked-at" else f", in the run {request.in_run}"
        closed = f", closed by {request.closed_by}" if request.closed_by else ""
        print_line(
            f"  request   {state}, in the head {request.in_head}{run}{closed}: {request.author} at {where}: {request.quote}"
        )
    for claim in record.claims:
        answer = f", the run {claim.answer.says.replace('-', ' ')} it ({claim.answer.why})" if claim.answer else ""
        print_line(
            f"  claim     {', '.join(claim.kinds)}{', inherited' if claim.inherited else ''}{answer}: {claim.quote}"
        )
    for commit in record.cancelled:
        print_line(f"  cancels   {commit.commit[:12]} {commit.subject}: {commit.why}")
    for check in record.checks:
        print_line(f"  check     {check.name}: {check.state}")
    for change in record.later:
        print_line(
            f"  later     #{change.number} {change.kind}{'' if change.merged else ', not merged'}: {change.title}"
        )
    for text in record.limits:
        print_line(f"  not seen  {text}")
    for finding in record.findings:
        print_line(f"  {finding.line}")


@click.command("publish")
@click.argument("folder", metavar="RUN", type=FOLDER)
@kit_option
@click.option("--publish", "really", is_flag=True, help="Post it. Without this, only say what would be posted.")
@click.option(
    "--check",
    type=click.Choice(["run", "status"]),
    help="Also mark the head of the pull request, so that branch protection can ask for it.",
)
@click.option(
    "--attested",
    nargs=2,
    type=FILE,
    metavar="BUNDLE ATTESTATION",
    help="The bundle of RUN, and what actions/attest wrote for it: the comment then says who signed.",
)
@signer_option
@language_option
def publish_command(
    *,
    folder: Path,
    kit: Path | None,
    really: bool,
    check: MarkKind | None,
    attested: tuple[Path, Path] | None,
    signer: str | None,
    lang: publish.Language,
) -> None:
    """Create or update the one comment of RUN on the upstream pull request.

    The token comes from GH_TOKEN or GITHUB_TOKEN, or from an App (BACKPROOF_APP_ID, BACKPROOF_APP_PRIVATE_KEY,
    BACKPROOF_APP_INSTALLATION).
    """
    from backproof.app import execution
    from backproof.records.publish import PublishRecord
    from backproof.stages import REGISTRY
    from backproof.stages import publish as posting
    from backproof.upstream import publish
    from backproof.upstream.connection import connect

    client = connect()
    loaded = publish.load_publishable(folder, REGISTRY, kit)
    post = publish.Post(
        comment=publish.prepare_comment(client, loaded, language=lang, links=_link_signer(loaded, attested, signer)),
        check=publish.prepare_check(client, loaded, check) if check else None,
    )
    if not really:
        _print_plan(post)
        return
    record = execution.add_beside(folder, say, posting, PublishRecord, post, kit=str(kit or ""))
    print_line(f"{record.action}: {record.url}")
    if record.check:
        print_line(f"marked: {record.check}")
    if actions := actions_job():
        actions.set_outputs(comment_url=record.url)


def _link_signer(loaded: publish.Loaded, attested: tuple[Path, Path] | None, signer: str | None) -> Links:
    from backproof import bundle
    from backproof.report.render import Links
    from backproof.upstream.publish import UNSIGNED

    if not attested:
        return UNSIGNED
    signed = bundle.verify_attestation(*attested, require_signer(signer))
    signed.must_be_of(loaded.story)
    return Links(signer=signed.workflow, sha256=signed.sha256)


def _print_plan(post: Post) -> None:
    place = post.comment
    plan = place.plan()
    where = plan.comment.url if plan.comment else str(place)
    author = place.author or "nobody: there is no token, so whose comment it would be is not known"
    for line in (f"would {plan.action} as {author}", f"  at {where}", f"  because {plan.why}", ""):
        print_line(line)
    for twin in plan.twins:
        print_line(f"would remove {twin.url}: a second comment of the same kit, branch and device")
    print_text(place.draft.body)
    if check := post.check:
        print_line(f"would mark {check.repo}@{check.sha[:12]}: POST {check.path}")
        print_json(check.build_body("the address of the comment"))
    print_line("nothing was posted; --publish posts it")
