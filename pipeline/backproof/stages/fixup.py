"""Lands the kit's fix-ups on top of the pick, each as a commit of its own with its reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unidiff.errors import UnidiffParseError
from unidiff.patch import PatchSet

from backproof.core.errors import NeedsReview, PlanError
from backproof.core.model import Finding, Outcome, Record, StageRole
from backproof.kit import insertion as anchored
from backproof.records.proof import PATCH_FILE, FixupRecord, LandedFixup, PickRecord, StageResult
from backproof.rundir.ledger import sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.git import Store, Worktree
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
        "fixups": [{**each.model_dump(), "sha256": sha256_of(ctx.kit / each.file)} for each in ctx.plan.fixup],
        "signoff": ctx.settings.signoff,
    }


def run(ctx: Context) -> StageResult:
    picked = ctx.require_record(PickRecord)
    store = ctx.store
    paths = {path for each in ctx.plan.fixup for path in _paths(ctx, each)}
    with store.worktree(ctx.ledger.folder / NAME / "tree", picked.head, paths=sorted(paths)) as tree:
        landed = tuple(_land(ctx, tree, each) for each in ctx.plan.fixup)
        head = tree.head()
    record = FixupRecord(head=head, head_tree=store.tree(head), fixups=landed, changes=store.changes(picked.base, head))
    store.set_ref("fixed", head)
    return _result(ctx, store, picked, record)


def _paths(ctx: Context, fixup: Fixup) -> set[str]:
    """The paths that a fix-up needs in the worktree."""
    path = ctx.kit / fixup.file
    if path.suffix == ".toml":
        return {anchored.load_insertion(path).file}
    try:
        patch = PatchSet(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except UnidiffParseError as error:
        raise PlanError(f"{path}: not a patch", why=str(error), next_step="make it with `git diff`") from error
    return {
        name.removeprefix(f"{side}/")
        for each in patch
        for side, name in (("a", each.source_file), ("b", each.target_file))
        if name != "/dev/null"
    }


def _land(ctx: Context, tree: Worktree, fixup: Fixup) -> LandedFixup:
    ctx.say(f"fix-up {fixup.id}")
    path = ctx.kit / fixup.file
    files = _insert(ctx, tree, fixup) if path.suffix == ".toml" else _patch(ctx, tree, fixup)
    if files is None:
        return LandedFixup(id=fixup.id, reason=fixup.reason, outcome="already-there", landed=None, files=())
    message = f"fix-up: {fixup.id}\n\n{fixup.reason.strip()}\n\nBackproof-Fixup: {fixup.id}\n"
    landed = tree.commit_all(message, signoff=ctx.settings.signoff)
    return LandedFixup(id=fixup.id, reason=fixup.reason, outcome="applied", landed=landed, files=files)


def _insert(ctx: Context, tree: Worktree, fixup: Fixup) -> tuple[str, ...] | None:
    insertion = anchored.load_insertion(ctx.kit / fixup.file)
    path = (tree.folder / insertion.file).resolve()
    if not path.is_relative_to(tree.folder.resolve()) or not path.is_file():
        raise NeedsReview(
            f"{insertion.file}: the fix-up {fixup.id} cannot be placed",
            why=f"the branch {ctx.settings.branch} has no such file after the pick",
            next_step="correct the fix-up's file, or drop the fix-up from the plan",
        )
    changed = anchored.insert_statement(path.read_bytes(), insertion)
    if changed is None:
        return None
    path.write_bytes(changed)
    return (insertion.file,)


def _patch(ctx: Context, tree: Worktree, fixup: Fixup) -> tuple[str, ...] | None:
    patch = (ctx.kit / fixup.file).read_bytes()
    tried = tree.apply(patch, check=True)
    if tried.code == 0:
        tree.apply(patch)
        return tree.staged()
    if tree.apply(patch, check=True, reverse=True).code == 0:
        return None
    raise NeedsReview(
        f"the fix-up {fixup.id} does not apply after the pick",
        why=tried.error_text.strip()[-800:],
        next_step=f"correct {ctx.kit / fixup.file} for the branch {ctx.settings.branch}, or drop the fix-up from the plan",
    )


def _result(ctx: Context, store: Store, picked: PickRecord, record: FixupRecord) -> StageResult:
    command = "; ".join(f"fix-up {each.id}" for each in record.fixups) or "no fix-ups in the plan"
    evidence = [ctx.keep_record(record, claim="what became of each fix-up", command=command)]
    mails = ctx.ledger.folder / NAME / PATCH_FILE
    mails.write_bytes(store.patch(picked.base, record.head))
    evidence.append(
        ctx.ledger.register_evidence(
            mails,
            claim="the whole backport, picks and fix-ups, as landed",
            command=f"git format-patch {picked.base[:12]}..{record.head[:12]}",
        )
    )
    done = ", ".join(f"{each.id} {each.outcome}" for each in record.fixups) or "none in the plan"
    notes = tuple(Finding(severity="note", text=each.reason.strip(), where=each.id) for each in record.fixups)
    return StageResult(
        stage=NAME, outcome=Outcome.PASS, sentence=f"fix-ups: {done}", evidence=tuple(evidence), findings=notes
    )
