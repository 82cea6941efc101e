"""Runs the kit's checks on the device, arm by arm: base must show the fault, fixed must not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError, TargetError
from backproof.core.model import Arm, Outcome, Record, StageRole
from backproof.core.plain_text import one_line
from backproof.core.plural import format_count
from backproof.core.redaction import redact
from backproof.devices.check_run import CheckEnvironment, CheckJob, CompletedCheck, run_jobs
from backproof.devices.operator_source import hash_source, list_limits
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
from backproof.verdict import judge
from backproof.verdict.endings import RULES
from backproof.verdict.sentences import case_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.core.model import Evidence
    from backproof.devices.check_result import CheckResult
    from backproof.devices.protocol import Device, Session
    from backproof.kit.plan import Check, Expected
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
        "source": hash_source(ctx.settings.operator_source),
        "operators": ctx.plan.emulator.model_dump(mode="json") if ctx.plan.emulator else None,
        "service": ctx.plan.verify.service.model_dump(mode="json"),
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    """One check under one operator model, or on the device."""

    check: Check
    model: str
    expected: Expected
    needed: int

    @property
    def name(self) -> str:
        return f"{self.check.id}.{self.model}"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Turn:
    """One arm in the target, and the number of the round."""

    arm: Arm
    number: int

    @property
    def folder(self) -> str:
        return self.arm.value if self.number == 1 else f"{self.arm}.{self.number}"

    def takes(self, entry: _Entry) -> bool:
        """Return whether a check runs in this turn: after the first round, a proof on the arms that it compares."""
        again = entry.expected.role == "proof" and self.arm is not Arm.PICK
        return self.number == 1 or (again and self.number <= entry.needed)


_Answers = dict[tuple[str, Arm], list[tuple["CheckResult", "Evidence"]]]


def run(ctx: Context) -> StageResult:
    device, python = devices.get_device(ctx.settings.device), Path(ctx.settings.python)
    facts, entries = device.describe(python), _list_entries(ctx, device)
    answers: _Answers = {}
    hashes = {}
    with device.open_session(python, ctx.ledger.stage_folder(NAME), editable.read_service(ctx).env) as session:
        for turn in _list_turns(entries):
            with arms.install_arm(ctx, turn.arm) as hashes[turn.arm]:
                _run_turn(ctx, session, turn, [entry for entry in entries if turn.takes(entry)], answers)
        spoiled = session.spoiled()
        kept = _keep_inventory(ctx, session)
    record = ValidateRecord(
        device=device.NAME,
        device_facts=facts,
        cases=_judge_entries(entries, answers, hashes, spoiled),
        hashes=hashes,
        rounds={entry.check.id: entry.check.repeat for entry in entries if entry.check.repeat > 1},
        spoiled=spoiled,
        limits=tuple(dict.fromkeys((*device.LIMITS, *_list_limits(ctx, answers)))),
    )
    return _make_result(ctx, record, kept)


def _list_entries(ctx: Context, device: Device) -> list[_Entry]:
    entries = [
        _Entry(check=check, model=model, expected=expected, needed=judge.count_rounds(device.LEVEL, check.repeat))
        for check in ctx.plan.check
        for model, expected in check.expected_under(device.models(ctx.plan)).items()
    ]
    if not entries:
        raise PlanError(
            f"the plan has no check for the device {device.NAME}",
            why=f"its checks have no {device.WORDS.expected_in}",
            next_step=f"add one to plan.toml, or choose another --device than {device.NAME}",
        )
    return entries


def _list_turns(entries: Sequence[_Entry]) -> list[_Turn]:
    """The arms in turn, round by round: a host that warms up or wears out must not look like a difference of arms."""
    last = max(entry.needed for entry in entries)
    turns = [_Turn(arm=arm, number=number) for number in range(1, last + 1) for arm in Arm]
    return [turn for turn in turns if any(map(turn.takes, entries))]


def _judge_entries(
    entries: Sequence[_Entry], answers: _Answers, hashes: Mapping[Arm, Mapping[str, str | None]], spoiled: str
) -> tuple[Case, ...]:
    cases = [
        case
        for entry in entries
        for case in judge.judge_check([_collect_rounds(entry, arm, answers, spoiled) for arm in Arm], hashes)
    ]
    return tuple(sorted(cases, key=lambda case: tuple(Arm).index(case.arm)))


def _collect_rounds(entry: _Entry, arm: Arm, answers: _Answers, spoiled: str) -> judge.Rounds:
    results, evidence = zip(*answers[entry.name, arm], strict=True)
    return judge.Rounds(
        check=entry.check.id,
        model=entry.model,
        arm=arm,
        role=entry.expected.role,
        wanted=entry.expected.for_arm(arm),
        results=results,
        evidence=evidence,
        needed=entry.needed,
        spoiled=spoiled,
    )


def _list_limits(ctx: Context, answers: _Answers) -> list[str]:
    said = [limit for pairs in answers.values() for result, _ in pairs for limit in result.limits]
    return [*said, *list_limits(ctx.plan, ctx.settings.operator_source)]


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


def _run_turn(ctx: Context, session: Session, turn: _Turn, entries: Sequence[_Entry], answers: _Answers) -> None:
    again = f", round {turn.number}" if turn.number > 1 else ""
    ctx.say(f"    arm {turn.arm}{again}: {format_count(len(entries), 'case')}")
    for entry, answer in zip(entries, _run_checks(ctx, session, turn, entries), strict=True):
        answers.setdefault((entry.name, turn.arm), []).append(_read_answer(ctx, turn, entry, answer))


def _run_checks(
    ctx: Context, session: Session, turn: _Turn, entries: Sequence[_Entry]
) -> list[CompletedCheck | TargetError]:
    device = devices.get_device(ctx.settings.device)
    environment = CheckEnvironment(
        python=Path(ctx.settings.python),
        env=editable.read_service(ctx).env,
        kit=ctx.kit,
        operator_source=ctx.settings.operator_source,
        device=device,
        arm=turn.arm,
        files=[str(file.installed) for file in ctx.require_record(InstallRecord).files],
        work=ctx.ledger.stage_folder(NAME) / turn.folder,
    )
    jobs = [
        CheckJob(name=entry.name, check=entry.check, operators=device.request(ctx.kit, ctx.plan, entry.model))
        for entry in entries
    ]
    return run_jobs(environment, jobs, session)


def _read_answer(
    ctx: Context, turn: _Turn, entry: _Entry, answer: CompletedCheck | TargetError
) -> tuple[CheckResult, Evidence]:
    """A process that left no result is an ERROR of this case; the other cases still run."""
    if isinstance(answer, TargetError):
        ctx.say(f"      {answer.what}")
        path, command = f"{NAME}/{turn.folder}/{entry.name}.error.txt", f"check {entry.check.id}"
        evidence = ctx.ledger.write_evidence(path, f"{answer}\n", claim=answer.what, command=command)
        return judge.make_broken(f"{answer.what}: {answer.why}"), evidence
    claim = f"what {entry.check.id} showed on {turn.arm} under {entry.model}"
    return answer.result, ctx.ledger.register_evidence(answer.file, claim=claim, command=answer.command)


def _make_result(ctx: Context, record: ValidateRecord, kept: list[Evidence]) -> StageResult:
    for case in record.cases:
        text = one_line(redact(case_sentence(case)), 700)
        ctx.say(f"      {text} ({case.steps - case.steps_failed} of {case.steps} steps pass)")
    outcome, sentence = judge.outcome(record.cases)
    whole = ctx.keep_record(
        record,
        claim="every case: check, model, arm, expected and observed",
        command=f"backproof run {ctx.ledger.folder} --only validate",
    )
    evidence: list[Evidence] = [whole, *kept, *(item for case in record.cases for item in case.evidence)]
    return StageResult(stage=NAME, outcome=Outcome(outcome), sentence=sentence, evidence=tuple(evidence))
