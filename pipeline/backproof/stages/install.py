"""Puts the fixed arm into the target: whole or not at all, undone when the command ends unless it is held."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.core.errors import PlanError
from backproof.core.model import Arm, Finding, Outcome, Record, StageRole
from backproof.core.plural import differ_or_differs, format_count, is_or_are
from backproof.devices.lent_packages import require_lendable
from backproof.install import arms, editable, patch
from backproof.install.branch_files import compare_branch
from backproof.install.interpreter import probe_target, read_target
from backproof.install.overlay import OverlaySession, format_undo_command
from backproof.records.proof import FixupRecord, InstalledFile, InstallRecord, PickRecord, StageResult
from backproof.rundir.ledger import now
from backproof.rundir.subject import must_be_of_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.install.interpreter import ProbeAnswer
    from backproof.install.patch import Patch
    from backproof.rundir.context import Context

NAME = "install"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord)
RECORD = InstallRecord
ROLE = StageRole.PROOF
REUSABLE = False


def inputs(ctx: Context) -> Mapping[str, Any]:
    fixed = ctx.require_record(FixupRecord)
    return {"tree": fixed.head_tree, "python": ctx.settings.python, "install": ctx.plan.install.model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    plan = ctx.plan
    asked = probe_target(Path(ctx.settings.python), distribution=plan.install.distribution, service=ctx.service)
    patch.require_distribution(ctx, asked.facts)
    must_be_of_target(ctx.ledger.folder, ctx.run, read_target(plan.install.distribution, asked.facts))
    require_lendable(asked.facts.interpreter)
    the_patch = patch.read_patch(ctx, asked.facts)
    if not the_patch.files:
        raise _nothing_to_install(ctx, the_patch)
    since = now()
    session = _put_overlay(ctx, the_patch)
    return _make_result(ctx, the_patch, asked, session, since=since)


def _put_overlay(ctx: Context, the_patch: Patch) -> OverlaySession:
    changes = arms.plan_arm_changes(ctx, the_patch, Arm.FIXED)
    session = OverlaySession.open(the_patch.site, owner=str(ctx.ledger.folder), run=ctx.run.id)
    ctx.effects.callback(session.close)
    session.replace(changes, guards=the_patch.guards)
    if the_patch.facts.distributions[0].editable:
        modules = {file.module: file.path for file in the_patch.files if file.module}
        editable.require_first(ctx, modules, the_patch.site)
    if ctx.hold:
        session.hold()
    return session


def _nothing_to_install(ctx: Context, the_patch: Patch) -> PlanError:
    return PlanError(
        f"{ctx.plan.install.distribution}: installs no file of the patch",
        why=f"the patch changes {', '.join(the_patch.outside[:5])}; none is in {the_patch.installed.info.name}/RECORD",
        next_step="correct [install] distribution or root in the plan",
    )


def _make_result(
    ctx: Context, the_patch: Patch, asked: ProbeAnswer, session: OverlaySession, *, since: str
) -> StageResult:
    record = _make_record(ctx, the_patch, since=since)
    command = f"backproof run {ctx.ledger.folder} --only install"
    evidence = (
        ctx.keep_record(record, claim="each file of the patch in site-packages, before and after", command=command),
        ctx.ledger.write_evidence(
            f"{NAME}/distribution.json",
            asked.facts,
            claim="the interpreter and the installed distribution",
            command=asked.command,
        ),
    )
    findings = [
        Finding(severity="note", text="the distribution does not install it", where=item) for item in record.outside
    ]
    findings += [
        Finding(severity="warning", text="is not as in the branch: another release is installed", where=item)
        for item in record.differs
    ]
    if session.warning:
        findings.append(Finding(severity="warning", text=session.warning))
    if ctx.hold:
        findings.append(
            Finding(severity="note", text=f"left in place: {format_undo_command(session.site)} takes it out")
        )
    return StageResult(
        stage=NAME, outcome=Outcome.PASS, sentence=_write_sentence(record), evidence=evidence, findings=tuple(findings)
    )


def _make_record(ctx: Context, the_patch: Patch, *, since: str) -> InstallRecord:
    first = the_patch.facts.distributions[0]
    whole = compare_branch(ctx.store, the_patch, ctx.plan.install.root, published=ctx.run.subject.published)
    return InstallRecord(
        mode=ctx.plan.install.mode,
        arm=Arm.FIXED,
        distribution=ctx.plan.install.distribution,
        version=first.version,
        location=str(the_patch.site),
        editable=first.editable,
        since=since,
        files=tuple(
            InstalledFile(
                path=file.path,
                installed=str(the_patch.site / file.installed),
                before=file.hash_on(Arm.BASE),
                after=file.hash_on(Arm.FIXED),
            )
            for file in the_patch.files
        ),
        outside=the_patch.outside,
        compared=whole.compared,
        differs=(*whole.differs, *whole.lacks),
        held=ctx.hold,
    )


def _write_sentence(record: InstallRecord) -> str:
    held = ", left in place" if record.held else ""
    left = f"; {len(record.outside)} not installed by the distribution" if record.outside else ""
    count, others = len(record.files), len(record.differs)
    left += f"; {format_count(others, 'other file')} {differ_or_differs(others)} from the branch" if others else ""
    return f"{format_count(count, 'file')} of the patch {is_or_are(count)} in {record.distribution} {record.version} ({record.mode}{held}){left}"
