"""The cherry-pick of the plan's commits onto the release branch, in our own store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backproof.adapters.git import Source, Store, write_pick
from backproof.core.errors import HostError, PlanError
from backproof.core.model import Evidence, Finding, Outcome, Record, StageRole
from backproof.core.plural import format_count
from backproof.history.branches import find_reconstruction, read_reconstructed
from backproof.history.lacking_names import find_lacking_names
from backproof.history.path_filter import make_path_filter
from backproof.history.picks import Picker, PickResult
from backproof.history.unpicked import explain_unpicked
from backproof.records.picks import ConflictRecord, PickOutcome
from backproof.records.proof import UPSTREAM_FILE, PickedCommit, PickRecord, StageResult
from backproof.rundir.subject import must_be_at_tip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.adapters.git import CommitInfo
    from backproof.history.picks import Drop
    from backproof.records.proof import Run
    from backproof.rundir.context import Context

NAME = "pick"
NEEDS: tuple[type[Record], ...] = ()
RECORD = PickRecord
ROLE = StageRole.PROOF
REUSABLE = True


def inputs(ctx: Context) -> Mapping[str, Any]:
    source = Source.open(ctx.settings.repo, pull=ctx.plan.upstream.pull)
    store = Store.create(ctx.ledger.store, source)
    return {
        "pick": ctx.plan.pick.model_dump(mode="json"),
        "base": source.resolve_branch(ctx.settings.branch),
        "commits": [_resolve_commit(ctx, store, source, name)[0] for name in ctx.plan.pick.commits],
        "pull": source.find_pull_head(ctx.plan.upstream.pull),
        "signoff": ctx.settings.signoff,
    }


def run(ctx: Context) -> StageResult:
    source = Source.open(ctx.settings.repo, pull=ctx.plan.upstream.pull)
    store = Store.create(ctx.ledger.store, source)
    base = source.resolve_branch(ctx.settings.branch)
    must_be_at_tip(ctx.ledger.folder, ctx.run, base)
    ctx.say(f"{ctx.settings.branch} is at {base[:12]}")
    commits = [(name, *_resolve_commit(ctx, store, source, name)) for name in ctx.plan.pick.commits]
    with Picker(store, say=ctx.say, mainline=ctx.plan.pick.mainline) as picker:
        picked, last, head = _pick_all(ctx, picker, commits, base)
        tree = picker.read_tree(head)
        stopped = last.outcome is PickOutcome.CONFLICT
        others = () if stopped else explain_unpicked(ctx.plan, picker, source, base=base, tree=tree, picked=picked)
        suspects = () if stopped else _find_suspects(ctx, picker, picked, base=picker.read_tree(base), tree=tree)
    record = PickRecord(
        branch=ctx.settings.branch,
        base=base,
        base_tree=store.objects.read_commit(base).tree,
        head=head,
        head_tree=tree,
        commits=tuple(picked),
        changes=store.list_changes(base, head),
        conflicts=tuple(ConflictRecord(path=conflict.path, kind=conflict.kind) for conflict in last.real_conflicts),
        others=others,
        suspects=suspects,
    )
    return _make_result(ctx, store, record, last)


def _resolve_commit(ctx: Context, store: Store, source: Source, name: str) -> tuple[CommitInfo, bool]:
    """Return the commit that the plan names, and whether the repository says that it is a reconstruction."""
    pull = ctx.plan.upstream.pull
    if sha := store.resolve_commit(name) or find_reconstruction(store, source, pull, name):
        commit = store.objects.read_commit(sha)
        return commit, bool(read_reconstructed(commit))
    raise PlanError(
        f"{source.name}: there is no commit {name}",
        why=f"the repository has neither that object nor a reconstruction of it on refs/pull/{pull}/head",
        next_step=f"fetch it there: git fetch https://github.com/{ctx.plan.upstream.repo} pull/{ctx.plan.upstream.pull}/head:refs/pull/{pull}/head",
    )


def _pick_all(
    ctx: Context, picker: Picker, commits: list[tuple[str, CommitInfo, bool]], base: str
) -> tuple[list[PickedCommit], PickResult, str]:
    """Pick until one does not land; return what became of each, the last result, and the last commit of ours."""
    drop = make_path_filter(ctx.plan.pick.drop)
    picked: list[PickedCommit] = []
    last, head = PickResult(outcome=PickOutcome.EMPTY), base
    for name, commit, reconstructed in commits:
        ctx.say(f"picking {name}: {commit.subject}")
        last, landed = _pick_one(ctx, picker, commit, head, drop)
        picked.append(
            PickedCommit(
                wanted=name,
                source=commit.sha,
                landed=landed,
                subject=commit.subject,
                author=commit.author,
                outcome=last.outcome,
                mainline=picker.find_mainline(commit),
                dropped=last.dropped if last.tree else (),
                reconstructed=reconstructed,
            )
        )
        if last.tree is None:
            break
        head = landed or head
    return picked, last, head


def _pick_one(ctx: Context, picker: Picker, commit: CommitInfo, head: str, drop: Drop) -> tuple[PickResult, str | None]:
    """Pick onto a commit of ours; return the result and the commit that it made, if any."""
    pick = picker.pick(commit.sha, picker.read_tree(head), drop=drop)
    if pick.outcome is PickOutcome.UNKNOWN:
        raise HostError(
            f"{commit.sha[:12]}: this commit cannot be picked",
            why=pick.why,
            next_step="complete the clone (`git fetch --unshallow`, or `git fetch --deepen=50`) and run again",
        )
    if pick.tree is None or pick.tree == picker.read_tree(head):
        return pick, None
    signoff, mainline = ctx.settings.signoff, picker.find_mainline(commit)
    return pick, write_pick(picker.store, commit.sha, tree=pick.tree, parent=head, signoff=signoff, mainline=mainline)


def _find_suspects(
    ctx: Context, picker: Picker, picked: list[PickedCommit], *, base: str, tree: str
) -> tuple[str, ...]:
    landed = [commit.source for commit in picked if commit.landed]
    if not landed:
        return ()
    change, drop = picker.read_series_change(landed), make_path_filter(ctx.plan.pick.drop)
    return find_lacking_names(picker, change, base, tree, drop=drop)


def _make_result(ctx: Context, store: Store, record: PickRecord, last: PickResult) -> StageResult:
    command = f"git cherry-pick -x {' '.join(commit.source[:12] for commit in record.commits)} on {record.base[:12]}"
    evidence = [ctx.keep_record(record, claim=f"what became of each picked commit on {record.branch}", command=command)]
    if record.conflicts:
        claim, text = "the conflicting hunks, with the common base", _show_conflicts(store, record, last)
        evidence.append(ctx.ledger.write_evidence(f"{NAME}/conflict.diff", text, claim=claim, command=command))
    if record.commits[-1].outcome in {PickOutcome.CONFLICT, PickOutcome.MERGE_COMMIT}:
        return _report_stopped(record, tuple(evidence))
    store.set_ref("base", record.base)
    store.set_ref("pick", record.head)
    evidence.append(
        ctx.ledger.write_evidence(
            f"{NAME}/pick.mbox",
            store.format_patch(record.base, record.head),
            claim="the picked commits as landed",
            command=f"git format-patch {record.base[:12]}..{record.head[:12]}",
        )
    )
    return _report_landed(ctx.run, record, (*evidence, *_keep_upstream(ctx, store, record)))


def _show_conflicts(store: Store, record: PickRecord, last: PickResult) -> str:
    """Return the files in conflict, with their markers, as a diff against what the branch has."""
    text = store.render_diff(record.head_tree, str(last.marked), [conflict.path for conflict in last.real_conflicts])
    ours, theirs = last.labels
    commit = record.commits[-1]
    return text.replace(ours, record.branch).replace(theirs, f"{commit.source[:12]} ({commit.subject})")


def _keep_upstream(ctx: Context, store: Store, record: PickRecord) -> tuple[Evidence, ...]:
    """Write the source commits as they are upstream, to lay beside what landed; a merge commit is no mail, and left out."""
    parents = {commit.source: store.objects.read_commit(commit.source).parents for commit in record.commits}
    mails = [store.format_patch(before[0], sha) for sha, before in parents.items() if len(before) == 1]
    if not mails:
        return ()
    command = " && ".join(f"git format-patch --stdout -1 {sha[:12]}" for sha in parents)
    claim = "the commits as they are upstream, drops included"
    return (ctx.ledger.write_evidence(f"{NAME}/{UPSTREAM_FILE}", b"".join(mails), claim=claim, command=command),)


def _report_stopped(record: PickRecord, evidence: tuple[Evidence, ...]) -> StageResult:
    last = record.commits[-1]
    if last.outcome is PickOutcome.MERGE_COMMIT:
        sentence = f"{last.wanted} is a merge commit: say which parent is the main line with [pick] mainline, or pick its parts"
    else:
        listed = "; ".join(f"{conflict.path} ({conflict.kind})" for conflict in record.conflicts)
        sentence = (
            f"{last.wanted} conflicts on {record.branch} in {format_count(len(record.conflicts), 'file')}: {listed}"
        )
    findings = tuple(Finding(severity="fail", text=conflict.kind, where=conflict.path) for conflict in record.conflicts)
    return StageResult(stage=NAME, outcome=Outcome.PERSON, sentence=sentence, evidence=evidence, findings=findings)


def _report_landed(run: Run, record: PickRecord, evidence: tuple[Evidence, ...]) -> StageResult:
    parts = [
        f"{commit.wanted} {commit.outcome}" + (f" (without {', '.join(commit.dropped)})" if commit.dropped else "")
        for commit in record.commits
    ]
    findings = [Finding(severity="note", text=commit.why, where=commit.commit) for commit in record.others]
    findings += [
        Finding(severity="warning", text="a reconstruction stands for upstream's own commit", where=commit.wanted)
        for commit in record.commits
        if commit.reconstructed
    ]
    findings += [Finding(severity="warning", text=f"suspect: {suspect}") for suspect in record.suspects]
    if not record.changes:
        return StageResult(
            stage=NAME,
            outcome=Outcome.INCONCLUSIVE,
            sentence=f"nothing landed on {run.place}: {', '.join(parts)}. There is no backport to prove",
            evidence=evidence,
            findings=tuple(findings),
        )
    at = "" if run.subject.published else f" at {record.base[:12]}"
    sentence = f"{', '.join(parts)} on {run.place}{at}: {format_count(len(record.changes), 'file')}"
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=evidence, findings=tuple(findings))
