"""Why the other commits of the pull request are not needed: computed by picking all of them and comparing trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.plural import format_all
from backproof.records.proof import OtherCommit

if TYPE_CHECKING:
    from backproof.adapters.git import CommitInfo, Source, Store, Worktree
    from backproof.kit.plan import Plan
    from backproof.records.proof import PickedCommit


def explain_others(
    plan: Plan, store: Store, tree: Worktree, source: Source, *, base: str, picked: list[PickedCommit]
) -> tuple[OtherCommit, ...]:
    """One entry for each commit of the pull request that was not picked.

    The worktree is used for the trial and left where it was.
    """
    commits = [store.commit(sha) for sha in pull_commits(plan, store, source, base=base)]
    wanted = {each.source for each in picked}
    others = [each for each in commits if each.sha not in wanted]
    if not others:
        return tuple(_unknown(each.commit, each.why) for each in plan.pick.not_wanted)
    return _compare(store, tree, commits, others, base=base)


def pull_commits(plan: Plan, store: Store, source: Source, *, base: str) -> list[str]:
    """The commits of the plan's pull request that the branch does not have, oldest first; none where it is not at hand."""
    head = source.pull_head(plan.upstream.pull)
    return list(store.commits_between(base, head)) if head else []


def _compare(
    store: Store, tree: Worktree, commits: list[CommitInfo], others: list[CommitInfo], *, base: str
) -> tuple[OtherCommit, ...]:
    ours = tree.head()
    whole = _pick_whole(store, tree, commits, base=base)
    tree.reset(ours)
    if whole is None:
        why = "could not be computed: the whole series of the pull request does not land cleanly on this branch"
        return tuple(_other(store, each, why, computed=False) for each in others)
    rest = store.changes(ours, whole)
    names = ", ".join(each.sha[:12] for each in others)
    if not rest:
        why = f"not needed: picking {format_all(len(commits), 'commit')} of the pull request gives the same tree {store.tree(ours)[:12]} as picking without {names}"
        return tuple(_other(store, each, why, computed=True) for each in others)
    paths = ", ".join(change.path for change in rest[:5])
    return tuple(
        _other(store, each, f"left out, and it matters: with {names} these paths differ: {paths}", computed=True)
        for each in others
    )


def _pick_whole(store: Store, tree: Worktree, commits: list[CommitInfo], *, base: str) -> str | None:
    """The tree of the whole series on the branch, nothing dropped; None where it does not land."""
    tree.reset(base)
    for each in commits:
        if tree.cherry_pick(each.sha, drop=lambda _: False).unmerged:
            return None
    return store.tree(tree.head())


def _other(store: Store, commit: CommitInfo, why: str, *, computed: bool) -> OtherCommit:
    effect = _effect(store, commit)
    return OtherCommit(commit=commit.sha, subject=commit.subject, why=f"{effect}; {why}", computed=computed)


def _effect(store: Store, commit: CommitInfo) -> str:
    words = {(True, False): "adds", (False, True): "deletes", (False, False): "changes"}
    changes = store.changes(commit.parents[0], commit.sha) if commit.parents else ()
    return (
        ", ".join(f"{words[each.before is None, each.after is None]} {each.path}" for each in changes[:5])
        or "changes nothing"
    )


def _unknown(commit: str, why: str) -> OtherCommit:
    return OtherCommit(
        commit=commit,
        subject="",
        why=f"could not be computed: the repository does not have the pull request's commits. The plan says: {why}",
        computed=False,
    )
