"""Tries the kit's proofs on wrong versions of the fix: how many are caught is how strong the proof is. On request."""

from __future__ import annotations

import difflib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.model import Arm, Finding, Outcome, Record, StageRole
from backproof.core.plural import format_count
from backproof.core.time_budget import TimeBudget
from backproof.devices.check_run import CheckEnvironment
from backproof.install import arms, editable
from backproof.install.patch import read_patch
from backproof.mutation.changed_lines import split_lines
from backproof.mutation.mutants import make_mutants
from backproof.mutation.operators import VERSION
from backproof.mutation.trial import Proof, Trial, try_mutants
from backproof.records.mutation import MUTANTS_FILE, MutationRecord
from backproof.records.proof import FixupRecord, InstallRecord, PickRecord, StageResult, ValidateRecord, VerifyRecord
from backproof.rundir.ledger import sha256_of
from backproof.verdict.arm_tests import compare_arms
from backproof.verdict.strength import describe_strength, name_mutant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backproof.install.patch import Patch, PatchFile
    from backproof.mutation.mutants import Mutant
    from backproof.records.mutation import TriedMutant
    from backproof.rundir.context import Context

NAME = "mutate"
NEEDS: tuple[type[Record], ...] = (PickRecord, FixupRecord, InstallRecord, VerifyRecord, ValidateRecord)
RECORD = MutationRecord
ROLE = StageRole.BESIDE
REUSABLE = True


@dataclass(frozen=True, kw_only=True, slots=True)
class MutateOptions:
    """The time that trying may take."""

    budget: TimeBudget = field(default_factory=TimeBudget)


def inputs(ctx: Context) -> Mapping[str, Any]:
    shown = ctx.ledger.folder / ctx.registry.path_of(ValidateRecord)
    return {
        "operators": VERSION,
        "shown": sha256_of(shown),
        "equivalent": [item.model_dump() for item in ctx.plan.equivalent],
        "budget": ctx.read_options(MutateOptions).budget.limit,
    }


def run(ctx: Context) -> StageResult:
    started, budget = time.monotonic(), ctx.read_options(MutateOptions).budget.start()
    the_patch = read_patch(ctx)
    mutants, unread = _make_mutants(the_patch)
    proofs = list(_list_proofs(ctx))
    ctx.say(f"    {format_count(len(mutants), 'wrong version')} of the fix, {format_count(len(proofs), 'proof')}")
    record = MutationRecord(
        operators=VERSION,
        proofs=tuple(proof.name for proof in proofs),
        mutants=_declare_equivalent(ctx, _try_mutants(ctx, the_patch, budget, mutants, proofs)),
        unread=tuple(unread),
        seconds=round(time.monotonic() - started, 1),
        budget=budget.limit,
    )
    return _keep_result(ctx, the_patch, mutants, record)


def _make_mutants(the_patch: Patch) -> tuple[list[Mutant], list[str]]:
    mutants: list[Mutant] = []
    unread: list[str] = []
    for file in _list_files(the_patch):
        try:
            mutants += make_mutants(file.path, file.content[Arm.BASE] or b"", file.content[Arm.FIXED] or b"")
        except (SyntaxError, ValueError) as error:
            unread.append(f"{file.path}: it cannot be read as Python here: {error}")
    return mutants, unread


def _list_files(the_patch: Patch) -> Iterator[PatchFile]:
    return (file for file in the_patch.files if file.path.endswith(".py") and file.content[Arm.FIXED])


def _list_proofs(ctx: Context) -> Iterator[Proof]:
    """Return the tests that the fix mended, by check and operator model; the others are guards and limits."""
    device = devices.get_device(ctx.settings.device)
    cases = {(case.check, case.model, case.arm): case for case in ctx.require_record(ValidateRecord).cases}
    for check in ctx.plan.check:
        for model in check.expected_under(device.models(ctx.plan)):
            base, fixed = (cases.get((check.id, model, arm)) for arm in (Arm.BASE, Arm.FIXED))
            if base is None or fixed is None or fixed.role != "proof":
                continue
            mended = tuple(test for test, standing in compare_arms(base.tests, fixed.tests) if standing == "mended")
            if mended:
                operators = device.request(ctx.kit, ctx.plan, model)
                yield Proof(check=check, model=model, tests=mended, operators=operators, seconds=fixed.seconds)


def _try_mutants(
    ctx: Context, the_patch: Patch, budget: TimeBudget, mutants: Sequence[Mutant], proofs: Sequence[Proof]
) -> tuple[TriedMutant, ...]:
    device, python = devices.get_device(ctx.settings.device), Path(ctx.settings.python)
    folder, env = ctx.ledger.stage_folder(NAME), editable.read_service(ctx).env
    with device.open_session(python, folder, env) as session, arms.install_arm(ctx, Arm.FIXED) as hashes:
        environment = CheckEnvironment(
            python=python,
            env=env,
            kit=ctx.kit,
            operator_source=ctx.settings.operator_source,
            device=device,
            arm=Arm.FIXED,
            files=tuple(hashes),
            work=folder / "work" / "checks",
        )
        trial = Trial(
            environment=environment,
            session=session,
            site=the_patch.site,
            hashes=hashes,
            places={file.path: file.installed for file in the_patch.files},
            budget=budget,
            say=ctx.say,
        )
        return try_mutants(trial, mutants, proofs)


def _declare_equivalent(ctx: Context, tried: Sequence[TriedMutant]) -> tuple[TriedMutant, ...]:
    reasons = {item.mutant: item.reason for item in ctx.plan.equivalent}
    return tuple(item.model_copy(update={"equivalent": reasons.get(item.id, "")}) for item in tried)


def _keep_result(ctx: Context, the_patch: Patch, mutants: Sequence[Mutant], record: MutationRecord) -> StageResult:
    command = f"backproof mutate {ctx.ledger.folder}"
    sentence = describe_strength(record)
    evidence = (
        ctx.keep_record(
            record, claim=f"each wrong version of the fix, and what became of it: {sentence}", command=command
        ),
        ctx.ledger.write_evidence(
            f"{NAME}/{MUTANTS_FILE}",
            "".join(_write_patches(the_patch, mutants)),
            claim="the wrong versions, each as a change of the fix",
            command=command,
        ),
    )
    told = any(item.ending in {"caught", "survived"} for item in record.mutants)
    return StageResult(
        stage=NAME,
        outcome=Outcome.PASS if told else Outcome.INCONCLUSIVE,
        sentence=sentence,
        evidence=evidence,
        findings=tuple(_list_findings(ctx, record)),
    )


def _write_patches(the_patch: Patch, mutants: Sequence[Mutant]) -> Iterator[str]:
    fixed = {file.path: (file.content[Arm.FIXED] or b"").decode("utf-8", "replace") for file in the_patch.files}
    for mutant in mutants:
        old, new = split_lines(fixed[mutant.path]), split_lines(mutant.source.decode())
        yield f"# {mutant.id} {mutant.operator}\n"
        yield from difflib.unified_diff(old, new, f"a/{mutant.path}", f"b/{mutant.path}")


def _list_findings(ctx: Context, record: MutationRecord) -> Iterator[Finding]:
    for item in record.list_with("survived"):
        yield Finding(severity="note", text=f"not caught: {name_mutant(item)} ({item.id})")
    for item in record.list_with("timeout", "error"):
        yield Finding(
            severity="warning", text=f"{item.ending}: {name_mutant(item)} ({item.id}): {item.why}", where=item.path
        )
    for text in record.unread:
        yield Finding(severity="warning", text=text)
    made = {item.id: item for item in record.mutants}
    for declared in ctx.plan.equivalent:
        if declared.mutant not in made:
            yield Finding(
                severity="warning", text=f"the plan declares a mutant equivalent that there is not: {declared.mutant}"
            )
        elif made[declared.mutant].ending == "caught":
            yield Finding(
                severity="warning", text=f"the plan declares {declared.mutant} equivalent, and a proof catches it"
            )
