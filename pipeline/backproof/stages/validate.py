"""Runs the kit's checks on the device, arm by arm: base must show the fault, fixed must not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError, TargetError
from backproof.core.model import Arm, Outcome, Record, StageRole
from backproof.core.plain_text import one_line
from backproof.core.redaction import redact
from backproof.devices.check_result import CheckResult
from backproof.devices.check_run import CheckEnvironment, CheckJob, CompletedCheck, run_jobs
from backproof.install import arms, editable
from backproof.records.proof import (
    INVENTORY_FILE,
    Case,
    FixupRecord,
    InstallRecord,
    PickRecord,
    StageResult,
    ValidateRecord,
    VerifyRecord,
)
from backproof.rundir.ledger import sha256_of
from backproof.verdict import judge
from backproof.verdict.endings import RULES
from backproof.verdict.sentences import case_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Evidence
    from backproof.devices.protocol import Device, Session
    from backproof.rundir.context import Context

NAME = "validate"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord, InstallRecord, VerifyRecord)
RECORD = ValidateRecord
ROLE = StageRole.PROOF
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    picked = ctx.require_record(PickRecord)
    fixed = ctx.require_record(FixupRecord)
    installed = ctx.require_record(InstallRecord)
    return {
        "rules": RULES,
        "trees": [picked.base_tree, picked.head_tree, fixed.head_tree],
        "target": installed.model_dump(mode="json", exclude={"held", "since"}),
        "python": ctx.settings.python,
        "device": ctx.settings.device,
        "facts": devices.get_device(ctx.settings.device).describe(Path(ctx.settings.python)),
        "checks": [item.model_dump(mode="json") for item in ctx.plan.check],
        "operators": ctx.plan.emulator.model_dump(mode="json") if ctx.plan.emulator else None,
        "service": ctx.plan.verify.service.model_dump(mode="json"),
        "files": {path.relative_to(ctx.kit).as_posix(): sha256_of(path) for path in sorted(ctx.kit.rglob("*.py"))},
    }


def run(ctx: Context) -> StageResult:
    device = devices.get_device(ctx.settings.device)
    python = Path(ctx.settings.python)
    facts = device.describe(python)
    cases: list[Case] = []
    limits = dict.fromkeys(device.LIMITS)
    with device.open_session(python, ctx.ledger.stage_folder(NAME), editable.read_service(ctx).env) as session:
        for arm in Arm:
            with arms.install_arm(ctx, arm) as hashes:
                for case, said in _run_arm(ctx, device, session, arm, hashes):
                    cases.append(case)
                    limits |= dict.fromkeys(said)
        if spoiled := session.spoiled():
            cases = [_spoil_case(case, spoiled) for case in cases]
        kept = _keep_inventory(ctx, session)
    record = ValidateRecord(device=device.NAME, device_facts=facts, cases=tuple(cases), limits=tuple(limits))
    return _make_result(ctx, record, kept)


def _spoil_case(case: Case, why: str) -> Case:
    """What a bad card showed says nothing about the backport: ERROR, whatever it was, never FAIL."""
    return case.model_copy(update={"verdict": "error", "sentence": f"{case.sentence}; but {why}"})


def _keep_inventory(ctx: Context, session: Session) -> list[Evidence]:
    """What the device says of itself, from the same host and boot as the results; none for an emulator."""
    if session.inventory is None:
        return []
    files = (
        (INVENTORY_FILE, session.inventory, "the device, its driver and its runtime"),
        ("hardware.json", session.details, "all that the host said of itself"),
    )
    return [
        ctx.ledger.write_evidence(f"{NAME}/{name}", record, claim=claim, command=session.command)
        for name, record, claim in files
        if record is not None
    ]


def _run_arm(
    ctx: Context, device: Device, session: Session, arm: Arm, hashes: Mapping[str, str | None]
) -> list[tuple[Case, tuple[str, ...]]]:
    subjects = [
        judge.Subject(check=check, model=model, arm=arm, expected=expected)
        for check in ctx.plan.check
        for model, expected in check.expected_under(device.models(ctx.plan)).items()
    ]
    if not subjects:
        raise PlanError(
            f"the plan has no check for the device {device.NAME}",
            why=f"its checks have no {device.WORDS.expected_in}",
            next_step=f"add one to plan.toml, or choose another --device than {device.NAME}",
        )
    ctx.say(f"    arm {arm}: {len(subjects)} cases")
    answers = _run_checks(ctx, device, session, subjects, tuple(hashes))
    return [_judge_answer(ctx, subject, answer, hashes) for subject, answer in zip(subjects, answers, strict=True)]


def _run_checks(
    ctx: Context, device: Device, session: Session, subjects: Sequence[judge.Subject], files: Sequence[str]
) -> list[CompletedCheck | TargetError]:
    arm = subjects[0].arm
    environment = CheckEnvironment(
        python=Path(ctx.settings.python),
        env=editable.read_service(ctx).env,
        kit=ctx.kit,
        device=device,
        arm=arm,
        files=files,
        work=ctx.ledger.stage_folder(NAME) / arm.value,
    )
    jobs = [
        CheckJob(
            name=f"{subject.check.id}.{subject.model}",
            check=subject.check,
            operators=device.request(ctx.kit, ctx.plan, subject.model),
        )
        for subject in subjects
    ]
    return run_jobs(environment, jobs, session)


def _judge_answer(
    ctx: Context, subject: judge.Subject, answer: CompletedCheck | TargetError, hashes: Mapping[str, str | None]
) -> tuple[Case, tuple[str, ...]]:
    if isinstance(answer, TargetError):
        return _judge_broken(ctx, subject, answer, hashes), ()
    claim = f"what {subject.check.id} showed on {subject.arm} under {subject.model}"
    evidence = ctx.ledger.register_evidence(answer.file, claim=claim, command=answer.command)
    case = judge.case(subject, answer.result, hashes=hashes, evidence=[evidence])
    text = one_line(redact(case_sentence(case)), 700)
    ctx.say(f"      {text} ({case.steps - case.steps_failed} of {case.steps} steps pass)")
    return case, answer.result.limits


def _judge_broken(ctx: Context, subject: judge.Subject, error: TargetError, hashes: Mapping[str, str | None]) -> Case:
    """A process that left no result is an ERROR of this case; the other cases still run."""
    ctx.say(f"      {error.what}")
    path, command = f"{NAME}/{subject.arm}/{subject.check.id}.{subject.model}.error.txt", f"check {subject.check.id}"
    evidence = ctx.ledger.write_evidence(path, f"{error}\n", claim=error.what, command=command)
    result = CheckResult(schema=2, nonce="", error={"what": f"{error.what}: {error.why}"})
    return judge.case(subject, result, hashes=hashes, evidence=[evidence])


def _make_result(ctx: Context, record: ValidateRecord, kept: list[Evidence]) -> StageResult:
    outcome, sentence = judge.outcome(record.cases)
    whole = ctx.keep_record(
        record,
        claim="every case: check, model, arm, expected and observed",
        command=f"backproof run {ctx.ledger.folder} --only validate",
    )
    evidence: list[Evidence] = [whole, *kept, *(item for case in record.cases for item in case.evidence)]
    return StageResult(stage=NAME, outcome=Outcome(outcome), sentence=sentence, evidence=tuple(evidence))
