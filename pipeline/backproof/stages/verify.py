"""Proves that the code that would run is the code that was picked: loaded, complete, reached."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import HostError, PlanError
from backproof.core.model import Arm, Evidence, Outcome, Record, StageRole, worst_outcome
from backproof.core.plural import differ_or_differs, format_count
from backproof.devices.check_run import CheckEnvironment, CheckJob, run_check
from backproof.install import arms, editable, overlay, patch, stale_code
from backproof.install.interpreter import probe_target
from backproof.install.overlay.journal import hash_file
from backproof.records.proof import Claim, FixupRecord, InstallRecord, PickRecord, StageResult, VerifyRecord
from backproof.verdict import judge
from backproof.verdict.arm_tests import describe_end
from backproof.verdict.claims.complete import judge_complete
from backproof.verdict.claims.loaded import Wanted, judge_loaded
from backproof.verdict.claims.reached import Subject, compute_reach, judge_reached
from backproof.verdict.endings import classify_ending

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.devices.check_result import CheckResult
    from backproof.install.interpreter import ProbeFacts
    from backproof.install.patch import Patch
    from backproof.kit.plan import Check
    from backproof.rundir.context import Context

NAME = "verify"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord, InstallRecord)
RECORD = VerifyRecord
ROLE = StageRole.PROOF
REUSABLE = False


_MAY_RUN = {Outcome.PASS, Outcome.INCONCLUSIVE}
"""With a library that was not built again the checks still tell which lines of Python they reach."""


class FoundFiles(Record):
    """verify/installed.json: SHA-256 of each file of the patch as it is in the target now."""

    files: dict[str, str | None]


def inputs(ctx: Context) -> Mapping[str, Any]:
    fixed = ctx.require_record(FixupRecord)
    return {"tree": fixed.head_tree, "python": ctx.settings.python, "verify": ctx.plan.verify.model_dump(mode="json")}


def run(ctx: Context) -> StageResult:
    record = ctx.require_record(InstallRecord)
    arms.require_target(Path(ctx.settings.python), Path(record.location))
    the_patch = patch.read_patch(ctx)
    _need_patch(ctx, record)
    first = _claim_loaded(ctx, the_patch, record)
    second = _claim_complete(ctx, record)
    third = _claim_reached(ctx, the_patch, record, may_run=worst_outcome((first.outcome, second.outcome)) in _MAY_RUN)
    return _make_result(ctx, VerifyRecord(arm=record.arm, claims=(first, second, third)))


def _need_patch(ctx: Context, record: InstallRecord) -> None:
    """After a run the overlay is out again: that says nothing about the backport, so it must not read as a failure."""
    untouched = all(hash_file(Path(file.installed)) == file.before for file in record.files)
    if untouched and overlay.find_owner(Path(record.location)) != str(ctx.ledger.folder):
        raise PlanError(
            f"{ctx.plan.install.distribution}: the patch is not in the target",
            why="every file is the release's own, and no overlay of this run is in place: it was taken out again",
            next_step=f"put it in first: `backproof run {ctx.ledger.folder} --only install`, then verify",
        )


def _claim_loaded(ctx: Context, the_patch: Patch, record: InstallRecord) -> Claim:
    wanted = _list_wanted(ctx, the_patch, record)
    asked = probe_target(
        Path(ctx.settings.python),
        distribution=ctx.plan.install.distribution,
        service=editable.read_service(ctx),
        modules={name: item.path for name, item in wanted.items()},
    )
    claim = "what the import system of the target would load, and why"
    evidence = ctx.ledger.write_evidence(f"{NAME}/probe.json", asked.facts, claim=claim, command=asked.command)
    more = list(stale_code.find_older_processes(asked.facts, record))
    return judge_loaded(asked.facts, wanted, more=more, evidence=(evidence,))


def _list_wanted(ctx: Context, the_patch: Patch, record: InstallRecord) -> dict[str, Wanted]:
    """The modules of the patch, and those that the plan names beyond it: these must be as their RECORD says."""
    site = the_patch.site
    found = {
        file.module: Wanted(path=file.path, installed=str(site / file.installed), sha256=file.hash_on(record.arm))
        for file in the_patch.files
        if file.module
    }
    for name in ctx.plan.verify.modules:
        if name not in found:
            found[name] = _find_beyond(the_patch, name)
    return found


def _find_beyond(the_patch: Patch, name: str) -> Wanted:
    stem = name.replace(".", "/")
    files = the_patch.installed.files
    path = next((item for item in (f"{stem}.py", f"{stem}/__init__.py") if item in files), None)
    if path is None:
        raise PlanError(
            f"verify.modules: {name} is no module of the distribution",
            why=f"{the_patch.installed.info.name}/RECORD lists neither {stem}.py nor {stem}/__init__.py",
            next_step="correct the name in the plan",
        )
    place = the_patch.site / path
    # RECORD may leave a hash out; then the place alone is checked, and a file that is gone must not read as deleted.
    return Wanted(path=path, installed=str(place), sha256=files[path] or hash_file(place) or "no file")


def _claim_complete(ctx: Context, record: InstallRecord) -> Claim:
    found = {item.path: hash_file(Path(item.installed)) for item in record.files}
    command = f"sha256sum of the {format_count(len(found), 'file')} of the patch in site-packages"
    claim, files = "each file of the patch as it is in the target", FoundFiles(files=found)
    evidence = ctx.ledger.write_evidence(f"{NAME}/installed.json", files, claim=claim, command=command)
    return judge_complete(
        record.files, found, stale=tuple(stale_code.find_stale_libraries(record)), evidence=(evidence,)
    )


def _claim_reached(ctx: Context, the_patch: Patch, record: InstallRecord, *, may_run: bool) -> Claim:
    if not ctx.plan.verify.reach:
        return Claim(name="reached", sentence="not asked for: the plan has no verify.reach", outcome=Outcome.SKIP)
    if not may_run:
        return Claim(
            name="reached", sentence="not tried: the code in the target is not the patch", outcome=Outcome.ABORTED
        )
    results: list[CheckResult] = []
    evidence: list[Evidence] = []
    for name in ctx.plan.verify.reach:
        check = next(item for item in ctx.plan.check if item.id == name)
        try:
            result, made = _trace_check(ctx, record, check)
        except HostError as error:
            return _claim_error(ctx, error.what, error.why, tuple(evidence))
        evidence.append(made)
        if strange := _not_usable(result, record):
            # A check that is red may be what refutes the fix: validate tells, so this stage must not keep it from running.
            outcome = Outcome.INCONCLUSIVE if _is_red(result) else Outcome.ERROR
            why = "so it says nothing about the lines"
            return _claim_error(ctx, f"check {name}: {strange}", why, tuple(evidence), outcome)
        results.append(result)
    if foreign := _list_foreign(record, results):
        return Claim(
            name="reached",
            sentence=f"the checks load {format_count(len(foreign), 'file')} that {differ_or_differs(len(foreign))} from the branch: "
            f"{', '.join(foreign[:3])}; what they show is of the release that is installed",
            outcome=Outcome.INCONCLUSIVE,
            evidence=tuple(evidence),
        )
    return _judge_reach(ctx, the_patch, record, results, tuple(evidence))


def _list_foreign(record: InstallRecord, results: Sequence[CheckResult]) -> list[str]:
    """Return the files that a check loaded and that are not as the branch has them."""
    loaded = {item.file for result in results for item in result.loaded}
    return [path for path in record.differs if str(Path(record.location) / path) in loaded]


def _trace_check(ctx: Context, record: InstallRecord, check: Check) -> tuple[CheckResult, Evidence]:
    """One check on the fixed arm with line coverage, under its first variant that must pass."""
    device = devices.get_device(ctx.settings.device)
    variants = check.expected_under(device.models(ctx.plan))
    variant = next((name for name, item in variants.items() if item.for_arm(record.arm) == "pass"), None)
    if variant is None:
        raise PlanError(
            f"verify.reach: {check.id} has nothing that must pass on {record.arm} on the device {device.NAME}",
            why="only a check that runs to its end shows which lines it reaches",
            next_step="name another check in verify.reach, or another --device",
        )
    ctx.say(f"    which lines {check.id} reaches, under {variant}")
    environment = CheckEnvironment(
        python=Path(ctx.settings.python),
        env=editable.read_service(ctx).env,
        kit=ctx.kit,
        operator_source=ctx.settings.operator_source,
        device=device,
        arm=record.arm,
        files=[
            *(file.installed for file in record.files),
            *(str(Path(record.location) / path) for path in record.differs),
        ],
        work=ctx.ledger.stage_folder(NAME) / "reach",
    )
    job = CheckJob(
        name=f"{check.id}.{variant}",
        check=_narrow_check(ctx, check),
        operators=device.request(ctx.kit, ctx.plan, variant),
        cover=True,
    )
    found = run_check(environment, job)
    claim = f"what {check.id} executed and launched"
    return found.result, ctx.ledger.register_evidence(found.file, claim=claim, command=found.command)


def _narrow_check(ctx: Context, check: Check) -> Check:
    """The part of a check that the plan chose for tracing."""
    both = [f"({item})" for item in (check.select, ctx.plan.verify.reach_select) if item]
    return check.model_copy(update={"select": " and ".join(both) or None})


def _not_usable(result: CheckResult, record: InstallRecord) -> str:
    if result.error is not None:
        return judge.told(result.error)
    if not any(test.outcome != "skipped" for test in result.tests):
        return "nothing ran"
    if red := next((test for test in result.tests if test.outcome in {"failed", "error"}), None):
        return f"{describe_end(red)} ({red.nodeid}), while its lines were counted"
    wanted = {file.installed: file.after for file in record.files}
    wrong = judge.other_code(result.loaded, wanted)
    return f"other code was loaded: {', '.join(wrong)}" if wrong else ""


def _is_red(result: CheckResult) -> bool:
    endings = {classify_ending(test) for test in result.tests}
    return result.error is None and "error" not in endings and bool(endings & {"failed", "fault"})


def _claim_error(
    ctx: Context, what: str, why: str, evidence: tuple[Evidence, ...], outcome: Outcome = Outcome.ERROR
) -> Claim:
    sentence, path = f"{what}: {why}", f"{NAME}/reached.error.txt"
    made = ctx.ledger.write_evidence(path, f"{sentence}\n", claim=what, command=_verify_command(ctx))
    return Claim(name="reached", sentence=sentence, outcome=outcome, evidence=(*evidence, made))


def _judge_reach(
    ctx: Context, the_patch: Patch, record: InstallRecord, results: list[CheckResult], evidence: tuple[Evidence, ...]
) -> Claim:
    subjects = [
        Subject(
            path=file.path,
            installed=str(the_patch.site / file.installed),
            before=file.content[Arm.BASE],
            after=after,
        )
        for file in the_patch.files
        if (after := file.content[record.arm]) is not None and file.installed.endswith(".py")
    ]
    found = compute_reach(subjects, results, checks=ctx.plan.verify.reach, same_python=_same_python(the_patch.facts))
    claim = "each changed line of code, and how it was reached"
    made = ctx.ledger.write_evidence(f"{NAME}/reached.json", found, claim=claim, command=_verify_command(ctx))
    return judge_reached(found, evidence=(made, *evidence))


def _same_python(facts: ProbeFacts) -> bool:
    return tuple(facts.interpreter.version.split(".")[:2]) == tuple(str(item) for item in sys.version_info[:2])


def _verify_command(ctx: Context) -> str:
    return f"backproof run {ctx.ledger.folder} --only verify"


def _make_result(ctx: Context, record: VerifyRecord) -> StageResult:
    asked = [claim for claim in record.claims if claim.outcome is not Outcome.SKIP]
    whole = ctx.keep_record(record, claim="the three claims: loaded, complete, reached", command=_verify_command(ctx))
    return StageResult(
        stage=NAME,
        outcome=worst_outcome(item.outcome for item in asked),
        sentence="; ".join(f"{claim.name}: {claim.sentence}" for claim in record.claims),
        evidence=(whole, *(item for claim in record.claims for item in claim.evidence)),
        findings=tuple(finding for claim in record.claims for finding in claim.findings),
    )
