"""The kit's fix-ups on top of the pick, each as a commit of its own with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.adapters.git import write_commit
from backproof.core.model import Finding, Outcome, Record, StageRole
from backproof.history.fixups import apply_fixup
from backproof.records.proof import PATCH_FILE, FixupRecord, LandedFixup, PickRecord, StageResult
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.git import Store
    from backproof.kit.plan import Fixup
    from backproof.rundir.context import Context

NAME = "fixup"
NEEDS: tuple[type[Record], ...] = (PickRecord,)
RECORD = FixupRecord
ROLE = StageRole.PROOF
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    picked = ctx.require_record(PickRecord)
    return {
        "head": picked.head,
        "fixups": [{**fixup.model_dump(), "sha256": sha256_of(ctx.kit / fixup.file)} for fixup in ctx.plan.fixup],
        "signoff": ctx.settings.signoff,
    }


def run(ctx: Context) -> StageResult:
    picked = ctx.require_record(PickRecord)
    store = ctx.store
    landed: list[LandedFixup] = []
    head = picked.head
    for fixup in ctx.plan.fixup:
        ctx.say(f"fix-up {fixup.id}")
        landed.append(_land_fixup(ctx, store, fixup, head))
        head = landed[-1].landed or head
    record = FixupRecord(
        head=head,
        head_tree=store.objects.read_commit(head).tree,
        fixups=tuple(landed),
        changes=store.list_changes(picked.base, head),
    )
    store.set_ref("fixed", head)
    return _make_result(ctx, store, picked, record)


def _land_fixup(ctx: Context, store: Store, fixup: Fixup, head: str) -> LandedFixup:
    before = store.objects.read_commit(head).tree
    tree = apply_fixup(store, before, ctx.kit / fixup.file)
    if tree == before:
        return LandedFixup(id=fixup.id, reason=fixup.reason, outcome="already-there", landed=None, files=())
    message = f"fix-up: {fixup.id}\n\n{fixup.reason.strip()}\n\nBackproof-Fixup: {fixup.id}\n"
    landed = write_commit(store, message, tree=tree, parent=head, signoff=ctx.settings.signoff)
    files = tuple(change.path for change in store.list_changes(before, tree))
    return LandedFixup(id=fixup.id, reason=fixup.reason, outcome="applied", landed=landed, files=files)


def _make_result(ctx: Context, store: Store, picked: PickRecord, record: FixupRecord) -> StageResult:
    command = "; ".join(f"fix-up {fixup.id}" for fixup in record.fixups) or "no fix-ups in the plan"
    evidence = [ctx.keep_record(record, claim="what became of each fix-up", command=command)]
    evidence.append(
        ctx.ledger.write_evidence(
            f"{NAME}/{PATCH_FILE}",
            store.format_patch(picked.base, record.head),
            claim="the whole backport, picks and fix-ups, as landed",
            command=f"git format-patch {picked.base[:12]}..{record.head[:12]}",
        )
    )
    done = ", ".join(f"{fixup.id} {fixup.outcome}" for fixup in record.fixups) or "none in the plan"
    notes = tuple(Finding(severity="note", text=fixup.reason.strip(), where=fixup.id) for fixup in record.fixups)
    return StageResult(
        stage=NAME, outcome=Outcome.PASS, sentence=f"fix-ups: {done}", evidence=tuple(evidence), findings=notes
    )
