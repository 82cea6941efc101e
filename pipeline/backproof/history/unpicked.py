"""Why the other commits of the pull request are not needed: computed by picking all of them and comparing trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.plural import format_all
from backproof.history.branches import list_pull_commits
from backproof.records.proof import OtherCommit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.adapters.git import CommitInfo, Source
    from backproof.history.picks import Picker
    from backproof.kit.plan import Plan
    from backproof.records.proof import PickedCommit


def explain_unpicked(
    plan: Plan, picker: Picker, source: Source, *, base: str, tree: str, picked: Sequence[PickedCommit]
) -> tuple[OtherCommit, ...]:
    """Return one entry for each commit of the pull request that was not picked.

    Args:
        plan: it names the pull request.
        simulator: of the store that holds both.
        source: it has the pull request's commits, or not.
        base: the release commit.
        tree: what the picks of the plan made of it.
        picked: the picks of the plan.
    """
    shas = list_pull_commits(picker.store, source, plan.upstream.pull, base)
    sources = {commit.source for commit in picked}
    others = [picker.objects.read_commit(sha) for sha in shas if sha not in sources]
    if not others:
        return tuple(_record_unknown(commit.commit, commit.why) for commit in plan.pick.not_wanted)
    why, computed = _compare(picker, shas, others, base=base, tree=tree)
    return tuple(
        OtherCommit(
            commit=commit.sha,
            subject=commit.subject,
            why=f"{_describe_effect(picker, commit)}; {why}",
            computed=computed,
        )
        for commit in others
    )


def _compare(
    picker: Picker, shas: Sequence[str], others: Sequence[CommitInfo], *, base: str, tree: str
) -> tuple[str, bool]:
    """Return why these were left out, and whether trees show it. Nothing is dropped from the whole series."""
    whole = picker.pick_series(shas, picker.read_tree(base))[-1].tree
    if whole is None:
        return "could not be computed: the whole series of the pull request does not land cleanly on this branch", False
    names = ", ".join(commit.sha[:12] for commit in others)
    if differing := list(picker.objects.diff_trees(tree, whole)):
        return f"left out, and it matters: with {names} these paths differ: {', '.join(differing[:5])}", True
    commits = format_all(len(shas), "commit")
    same = f"picking {commits} of the pull request gives the same tree {tree[:12]} as picking without {names}"
    return f"not needed: {same}", True


def _describe_effect(picker: Picker, commit: CommitInfo) -> str:
    verbs = {(True, False): "adds", (False, True): "deletes", (False, False): "changes"}
    if not commit.parents:
        return "changes nothing"
    differing = picker.objects.diff_trees(picker.read_tree(commit.parents[0]), commit.tree)
    effects = [f"{verbs[old is None, new is None]} {path}" for path, (old, new) in list(differing.items())[:5]]
    return ", ".join(effects) or "changes nothing"


def _record_unknown(commit: str, why: str) -> OtherCommit:
    return OtherCommit(
        commit=commit,
        subject="",
        why=f"could not be computed: the repository does not have the pull request's commits. The plan says: {why}",
        computed=False,
    )
