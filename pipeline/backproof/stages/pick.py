"""Cherry-picks the plan's commits onto the release branch, in our own store and worktree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.adapters.git import PickAttempt, Source, Store
from backproof.core.errors import HostError, PlanError
from backproof.core.model import Evidence, Finding, Outcome, Record, StageRole
from backproof.core.plural import format_count
from backproof.history.path_filter import dropper
from backproof.history.unpicked import explain_others, pull_commits
from backproof.records.proof import UPSTREAM_FILE, Conflict, PickedCommit, PickRecord, StageResult

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backproof.adapters.git import CommitInfo, Worktree
    from backproof.rundir.context import Context

NAME = "pick"
NEEDS: tuple[type[Record], ...] = ()
RECORD = PickRecord
ROLE = StageRole.PROOF
REUSABLE = True

RECONSTRUCTS = "Backproof-Reconstructs:"
"""A trailer that says of a commit: I am not upstream's own, I was written to equal the one named here."""


def inputs(ctx: Context) -> Mapping[str, Any]:
    source = Source.open(ctx.settings.repo, pull=ctx.plan.upstream.pull)
    store = Store.create(ctx.ledger.store, source)
    return {
        "pick": ctx.plan.pick.model_dump(mode="json"),
        "base": source.branch(ctx.settings.branch),
        "commits": [_resolve(ctx, store, source, name)[0] for name in ctx.plan.pick.commits],
        "pull": source.pull_head(ctx.plan.upstream.pull),
        "signoff": ctx.settings.signoff,
    }


def run(ctx: Context) -> StageResult:
    source = Source.open(ctx.settings.repo, pull=ctx.plan.upstream.pull)
    store = Store.create(ctx.ledger.store, source)
    base = source.branch(ctx.settings.branch)
    ctx.say(f"{ctx.settings.branch} is at {base[:12]}")
    wanted = [(name, *_resolve(ctx, store, source, name)) for name in ctx.plan.pick.commits]
    paths = store.touched([info.sha for _, info, _ in wanted] + pull_commits(ctx.plan, store, source, base=base))
    with store.worktree(ctx.ledger.folder / NAME / "tree", base, paths=paths) as tree:
        picked, attempt = _pick_all(ctx, store, tree, wanted)
        head = tree.head()
        others = () if attempt.unmerged else explain_others(ctx.plan, store, tree, source, base=base, picked=picked)
    record = PickRecord(
        branch=ctx.settings.branch,
        base=base,
        base_tree=store.tree(base),
        head=head,
        head_tree=store.tree(head),
        commits=tuple(picked),
        changes=store.changes(base, head),
        conflicts=tuple(Conflict(path=path, kind=kind) for path, kind in attempt.unmerged),
        others=others,
    )
    return _result(ctx, store, record, attempt)


def _resolve(ctx: Context, store: Store, source: Source, name: str) -> tuple[CommitInfo, bool]:
    """The commit that the plan names, and whether the repository says that it is a reconstruction."""
    if sha := store.resolve(name):
        info = store.commit(sha)
        return info, RECONSTRUCTS in info.message
    head = source.pull_head(ctx.plan.upstream.pull)
    for sha in store.commits_between(source.branch(ctx.settings.branch), head) if head else ():
        info = store.commit(sha)
        if any(line.split() == [RECONSTRUCTS, name] for line in info.message.splitlines()):
            return info, True
    raise PlanError(
        f"{source.name}: there is no commit {name}",
        why=f"the repository has neither that object nor a reconstruction of it on refs/pull/{ctx.plan.upstream.pull}/head",
        next_step=f"fetch it there: git fetch https://github.com/{ctx.plan.upstream.repo} pull/{ctx.plan.upstream.pull}/head:refs/pull/{ctx.plan.upstream.pull}/head",
    )


def _pick_all(
    ctx: Context, store: Store, tree: Worktree, wanted: list[tuple[str, CommitInfo, bool]]
) -> tuple[list[PickedCommit], PickAttempt]:
    drop = dropper(ctx.plan.pick.drop)
    picked: list[PickedCommit] = []
    attempt = PickAttempt(dropped=(), unmerged=())
    for name, info, reconstructed in wanted:
        ctx.say(f"picking {name}: {info.subject}")
        outcome, landed, attempt = _pick_one(ctx, store, tree, info, drop)
        picked.append(
            PickedCommit(
                wanted=name,
                source=info.sha,
                landed=landed,
                subject=info.subject,
                author=info.author,
                outcome=outcome,  # type: ignore[arg-type] # one of the literals by construction
                dropped=attempt.dropped,
                reconstructed=reconstructed,
            )
        )
        if outcome in {"conflict", "merge-commit"}:
            break
    return picked, attempt


def _pick_one(
    ctx: Context, store: Store, tree: Worktree, info: CommitInfo, drop: Callable[[str], bool]
) -> tuple[str, str | None, PickAttempt]:
    if len(info.parents) > 1 and ctx.plan.pick.mainline is None:
        return "merge-commit", None, PickAttempt(dropped=(), unmerged=())
    for parent in info.parents:
        _need_parent(store, info, parent)
    before = tree.head()
    mainline = ctx.plan.pick.mainline if len(info.parents) > 1 else None
    attempt = tree.cherry_pick(info.sha, drop=drop, signoff=ctx.settings.signoff, mainline=mainline)
    if attempt.unmerged:
        return "conflict", None, attempt
    if store.tree(tree.head()) == store.tree(before):
        tree.reset(before)
        return ("empty" if _is_empty(store, info, drop) else "already-there"), None, attempt
    return ("clean-after-drops" if attempt.dropped else "clean"), tree.head(), attempt


def _need_parent(store: Store, info: CommitInfo, parent: str) -> None:
    """A pick without the commit's parent would be a false conflict over every line of the file."""
    if info.sha in store.boundary() or not store.has(parent):
        raise HostError(
            f"{info.sha[:12]}: its parent {parent[:12]} is not in the repository",
            why="the clone is shallow or incomplete, so the change of this commit cannot be told",
            next_step="complete the clone (`git fetch --unshallow`, or `git fetch --deepen=50`) and run again",
        )


def _is_empty(store: Store, info: CommitInfo, drop: Callable[[str], bool]) -> bool:
    """Whether the commit itself changes nothing outside the dropped paths."""
    parent = info.parents[0] if info.parents else store.git("hash-object", "-t", "tree", "--stdin").text.strip()
    return all(drop(change.path) for change in store.changes(parent, info.sha))


def _result(ctx: Context, store: Store, record: PickRecord, attempt: PickAttempt) -> StageResult:
    command = f"git cherry-pick -x {' '.join(each.source[:12] for each in record.commits)} on {record.base[:12]}"
    evidence = [ctx.keep_record(record, claim=f"what became of each picked commit on {record.branch}", command=command)]
    if attempt.conflict_text:
        text = ctx.ledger.write_text(f"{NAME}/conflict.diff", attempt.conflict_text)
        evidence.append(
            ctx.ledger.register_evidence(text, claim="the conflicting hunks, with the common base", command=command)
        )
        return _stopped(record, tuple(evidence))
    if any(each.outcome == "merge-commit" for each in record.commits):
        return _stopped(record, tuple(evidence))
    store.set_ref("base", record.base)
    store.set_ref("pick", record.head)
    ctx.ledger.stage_folder(NAME)
    patch = ctx.ledger.folder / NAME / "pick.mbox"
    patch.write_bytes(store.patch(record.base, record.head))
    evidence.append(
        ctx.ledger.register_evidence(
            patch,
            claim="the picked commits as landed",
            command=f"git format-patch {record.base[:12]}..{record.head[:12]}",
        )
    )
    return _landed(record, (*evidence, *_upstream(ctx, store, record)))


def _upstream(ctx: Context, store: Store, record: PickRecord) -> tuple[Evidence, ...]:
    """The source commits as they are upstream, to lay beside what landed. A merge commit is no mail: it is left out."""
    named = {each.source: store.commit(each.source).parents for each in record.commits}
    mails = [store.patch(parents[0], sha) for sha, parents in named.items() if len(parents) == 1]
    if not mails:
        return ()
    file = ctx.ledger.folder / NAME / UPSTREAM_FILE
    file.write_bytes(b"".join(mails))
    command = " && ".join(f"git format-patch --stdout -1 {sha[:12]}" for sha in named)
    return (
        ctx.ledger.register_evidence(file, claim="the commits as they are upstream, drops included", command=command),
    )


def _stopped(record: PickRecord, evidence: tuple[Evidence, ...]) -> StageResult:
    last = record.commits[-1]
    if last.outcome == "merge-commit":
        sentence = f"{last.wanted} is a merge commit: say which parent is the main line with [pick] mainline, or pick its parts"
    else:
        listed = "; ".join(f"{each.path} ({each.kind})" for each in record.conflicts)
        sentence = (
            f"{last.wanted} conflicts on {record.branch} in {format_count(len(record.conflicts), 'file')}: {listed}"
        )
    findings = tuple(Finding(severity="fail", text=each.kind, where=each.path) for each in record.conflicts)
    return StageResult(stage=NAME, outcome=Outcome.PERSON, sentence=sentence, evidence=evidence, findings=findings)


def _landed(record: PickRecord, evidence: tuple[Evidence, ...]) -> StageResult:
    parts = [
        f"{each.wanted} {each.outcome}" + (f" (without {', '.join(each.dropped)})" if each.dropped else "")
        for each in record.commits
    ]
    findings = [Finding(severity="note", text=each.why, where=each.commit) for each in record.others]
    findings += [
        Finding(severity="warning", text="a reconstruction stands for upstream's own commit", where=each.wanted)
        for each in record.commits
        if each.reconstructed
    ]
    if not record.changes:
        return StageResult(
            stage=NAME,
            outcome=Outcome.INCONCLUSIVE,
            sentence=f"nothing landed on {record.branch}: {', '.join(parts)}. There is no backport to prove",
            evidence=evidence,
            findings=tuple(findings),
        )
    sentence = (
        f"{', '.join(parts)} on {record.branch} at {record.base[:12]}: {format_count(len(record.changes), 'file')}"
    )
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=evidence, findings=tuple(findings))
