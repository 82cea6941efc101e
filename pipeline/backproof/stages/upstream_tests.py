"""Runs tests of the target's own repository on the arms base and fixed. Not part of every run; `upstream-tests` runs it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError
from backproof.core.model import Arm, Finding, Record, StageRole
from backproof.devices.lent_packages import link_packages
from backproof.install import arms, editable
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord, StageResult
from backproof.records.upstream_tests import UpstreamRecord
from backproof.upstream_tests import compare
from backproof.upstream_tests.arm import ArmJob, run_arm
from backproof.upstream_tests.worker import TestJob
from backproof.verdict.endings import RULES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.core.model import Evidence
    from backproof.devices.protocol import Session
    from backproof.kit.serving import UpstreamTests
    from backproof.records.upstream_tests import ArmTests, Compared
    from backproof.rundir.context import Context

_SHOWN = 50

NAME = "upstream-tests"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord, InstallRecord)
RECORD = UpstreamRecord
ROLE = StageRole.PROOF
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    fixed = ctx.require_record(FixupRecord)
    installed = ctx.require_record(InstallRecord)
    return {
        "rules": RULES,
        "tree": fixed.head_tree,
        "target": installed.model_dump(mode="json", exclude={"held"}),
        "python": ctx.settings.python,
        "facts": devices.get_device(ctx.settings.device).describe(Path(ctx.settings.python)),
        "tests": _require_table(ctx).model_dump(mode="json"),
    }


def run(ctx: Context) -> StageResult:
    device = devices.get_device(ctx.settings.device)
    python, folder = Path(ctx.settings.python), ctx.ledger.stage_folder(NAME)
    root = _export_tests(ctx, _require_table(ctx), folder / "root")
    env = {**ctx.plan.baseline.environment, **editable.read_service(ctx).env}
    with device.open_session(python, folder, env) as session:
        tests = [_run_arm(ctx, session, env, root, arm) for arm in (Arm.BASE, Arm.FIXED)]
        record = UpstreamRecord(
            device_facts=device.describe(python),
            stand_in=session.inventory is None or session.inventory.stand_in,
            arms=tuple(tests),
            compared=compare.compare_arms(tests),
            spoiled=session.spoiled(),
        )
    return _keep_result(ctx, record)


def _require_table(ctx: Context) -> UpstreamTests:
    if ctx.plan.upstream_tests is None:
        raise PlanError(
            "the plan has no [upstream_tests]",
            why="it does not say which tests of the target's repository to run",
            next_step="add [upstream_tests] with select to plan.toml (docs/hardware.md)",
        )
    return ctx.plan.upstream_tests


def _export_tests(ctx: Context, wanted: UpstreamTests, root: Path) -> Path:
    """Export the tests as the fixed arm has them, for both arms: a test that came with the fix must be red without it.

    Nothing else of the repository lies beside them: a package folder there would be found before the installed target.
    """
    fixed = ctx.require_record(FixupRecord)
    whole = root.with_name("tree")
    for stale in (root, whole):
        shutil.rmtree(stale, ignore_errors=True)
    ctx.store.export_tree(fixed.head_tree, whole)
    for path in wanted.files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not (whole / path).exists():
            raise PlanError(
                f"upstream_tests.files: the repository has no {path}",
                why="the fixed tree was looked at",
                next_step="correct [upstream_tests] in plan.toml",
            )
        (whole / path).replace(target)
    shutil.rmtree(whole)
    return root


def _run_arm(ctx: Context, session: Session, env: Mapping[str, str], root: Path, arm: Arm) -> ArmTests:
    wanted = _require_table(ctx)
    work = ctx.ledger.stage_folder(f"{NAME}/{arm}")
    ctx.say(f"    arm {arm}: {len(wanted.select)} selections of the target's own tests")
    with arms.install_arm(ctx, arm) as hashes:
        test_job = TestJob(
            python=Path(ctx.settings.python),
            env=env,
            root=root,
            work=work,
            carried=link_packages(work.parent),
            files=tuple(hashes),
            select=wanted.select,
            timeout=wanted.timeout,
        )
        job = ArmJob(
            plan=wanted,
            test_job=test_job,
            arm=arm,
            hashes=hashes,
            prepare=lambda name: session.prepare_process(arm, name),
            say=ctx.say,
        )
        tests = run_arm(job)
    return tests.model_copy(update={"evidence": _collect_evidence(ctx, work, arm)})


def _collect_evidence(ctx: Context, work: Path, arm: Arm) -> tuple[Evidence, ...]:
    files = sorted(path for path in work.iterdir() if path.is_file() and path.suffix in {".xml", ".jsonl", ".log"})
    claim = f"what the target's own tests showed on {arm}"
    return tuple(ctx.ledger.register_evidence(path, claim=claim, command=f"pytest on {arm}") for path in files)


def _keep_result(ctx: Context, record: UpstreamRecord) -> StageResult:
    outcome, sentence = compare.judge_tests(record.arms, record.compared, record.spoiled)
    command = f"backproof host upstream-tests --run {ctx.ledger.folder}"
    evidence = [
        ctx.keep_record(record, claim="each of the target's own tests on base and fixed", command=command),
        *(item for arm in record.arms for item in arm.evidence),
    ]
    return StageResult(
        stage=NAME,
        outcome=outcome,
        sentence=sentence,
        evidence=tuple(evidence),
        findings=tuple(_build_finding(test) for test in record.changed[:_SHOWN]),
    )


def _build_finding(test: Compared) -> Finding:
    if test.verdict == "regression":
        return Finding(severity="fail", text=test.sentence)
    return Finding(severity="note" if test.verdict == "mended" or not test.counts else "warning", text=test.sentence)
