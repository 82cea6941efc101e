"""A fix and all release branches: which need it, where it lands, and what comes with it, from git objects alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git.log import read_log
from backproof.core.errors import HostError
from backproof.history.affected import FaultyLines, judge_affected, read_faulty_lines
from backproof.history.branches import CommitGraph
from backproof.history.changed_paths import ChangedPaths
from backproof.history.equivalents import Equivalents
from backproof.history.explain import record_conflicts
from backproof.history.followups import find_follow_ups
from backproof.history.picks import PickResult, keep_all
from backproof.history.records import SurveyRecord, SurveyRow
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.picks import Drop, Picker
    from backproof.history.records import FollowUp

_CUT = (
    "the clone is shallow: a fix that a branch has under another hash, and later fixes, may be missed; "
    "complete it with `git fetch --unshallow`"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Branch:
    name: str
    tip: str
    has: set[str]
    equivalents: Equivalents


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fix:
    commit: CommitInfo
    faulty: FaultyLines | None
    later: Sequence[tuple[FollowUp, CommitInfo]]


def survey_branches(
    picker: Picker,
    commits: Sequence[str],
    branches: Mapping[str, str],
    *,
    main: str,
    drop: Drop = keep_all,
    series: bool = False,
) -> SurveyRecord:
    """Try each commit on each branch.

    Args:
        picker: of the store that holds all.
        commits: full hashes.
        branches: name to commit.
        main: the commit of the main branch, where follow-ups are looked for.
        drop: paths that are left out.
        series: whether each commit lands on top of the ones before it, as a kit's commits do.
    """
    started = time.monotonic()
    paths = ChangedPaths(picker)
    graph = CommitGraph(picker.store, [main, *branches.values(), *commits])
    fixes = [_read_fix(picker, sha, main, drop, paths) for sha in commits]
    near = frozenset(path for fix in fixes if fix.faulty is not None for path in paths(fix.commit.sha))
    prepared = _prepare_branches(picker, graph, branches, main=main, paths=paths, near=near)
    trees = {branch.name: picker.read_tree(branch.tip) for branch in prepared}
    rows: list[SurveyRow] = []
    for fix in fixes:
        new = _survey_fix(picker, fix, prepared, trees, drop)
        rows += new
        if series:
            trees.update({row.branch: row.tree for row in new if row.tree is not None})
    return SurveyRecord(
        commits={fix.commit.sha: fix.commit.subject for fix in fixes},
        main=main,
        rows=tuple(sorted(rows, key=lambda row: list(branches).index(row.branch))),
        limits=(_CUT,) if picker.store.read_boundary() else (),
        seconds=round(time.monotonic() - started, 3),
    )


def _survey_fix(
    picker: Picker, fix: _Fix, branches: Sequence[_Branch], trees: Mapping[str, str], drop: Drop
) -> list[SurveyRow]:
    evidence = {branch.name: _find_evidence(fix, branch) for branch in branches}
    # Where the change is known to be, nothing is tried: far from its own parent that costs 200 ms a branch.
    names = [branch.name for branch in branches if not evidence[branch.name]]
    picks = dict(zip(names, _pick_fix(picker, fix, [trees[name] for name in names], drop), strict=True))
    return [
        _make_row(
            picker,
            fix,
            branch,
            picks.get(branch.name, PickResult(outcome=PickOutcome.ALREADY_THERE)),
            onto=trees[branch.name],
            evidence=evidence[branch.name],
        )
        for branch in branches
    ]


def _prepare_branches(
    picker: Picker,
    graph: CommitGraph,
    branches: Mapping[str, str],
    *,
    main: str,
    paths: ChangedPaths,
    near: frozenset[str],
) -> list[_Branch]:
    """Read one log for all branches, and give each the commits that it has."""
    own = graph.read_commits(list(branches.values()), main)
    paths.read_range(own, *branches.values(), f"^{main}", near=near)
    prepared: list[_Branch] = []
    for name, tip in branches.items():
        has = graph.collect_ancestors(tip)
        commits = [commit for sha, commit in own.items() if sha in has]
        equivalents = Equivalents(picker.store, commits, paths_of=paths)
        prepared.append(_Branch(name=name, tip=tip, has=has, equivalents=equivalents))
    return prepared


def _read_fix(picker: Picker, sha: str, main: str, drop: Drop, paths: ChangedPaths) -> _Fix:
    commit = picker.store.objects.read_commit(sha)
    later = read_log(picker.store, main, f"^{sha}", options=("--reverse",))
    single = len(commit.parents) < 2 and not _is_hidden(picker, sha)
    return _Fix(
        commit=commit,
        faulty=read_faulty_lines(picker, picker.read_change(sha), drop) if single else None,
        later=find_follow_ups(commit, later, paths_of=paths) if single else (),
    )


def _is_hidden(picker: Picker, sha: str) -> bool:
    try:
        picker.read_change(sha)
    except HostError:
        return True
    return False


def _pick_fix(picker: Picker, fix: _Fix, trees: Sequence[str], drop: Drop) -> list[PickResult]:
    if fix.faulty is None:
        return [picker.pick(fix.commit.sha, tree, drop=drop) for tree in trees]
    change = picker.read_change(fix.commit.sha)
    return picker.pick_all([(change, tree) for tree in trees], drop=drop)


def _make_row(picker: Picker, fix: _Fix, branch: _Branch, pick: PickResult, *, onto: str, evidence: str) -> SurveyRow:
    if not evidence and pick.outcome is PickOutcome.ALREADY_THERE:
        evidence = "its tree: a pick changes nothing"
    state, why = ("no", "the branch has the fix") if evidence else ("unknown", pick.why)
    if not evidence and fix.faulty is not None and pick.outcome is not PickOutcome.UNKNOWN:
        state, why = judge_affected(picker, fix.faulty, onto, pick)
    return SurveyRow(
        branch=branch.name,
        release=branch.tip,
        commit=fix.commit.sha,
        outcome=pick.outcome,
        there=evidence,
        affected=state,  # type: ignore[arg-type] # one of the literals by construction
        why=why,
        conflicts=record_conflicts(pick, {}),
        only_in_dropped=pick.only_in_dropped,
        dropped=pick.dropped,
        tree=pick.tree,
        lacks=tuple(follow_up for follow_up, commit in fix.later if not _has_commit(branch, commit)),
    )


def _find_evidence(fix: _Fix, branch: _Branch) -> str:
    """Return what shows without a pick that the branch has the change; empty when nothing does."""
    if fix.commit.sha in branch.has:
        return "the commit itself"
    match = branch.equivalents.find(fix.commit, deep=fix.faulty is not None)
    return f"{match.how}: {match.commit.sha[:12]} {match.commit.subject}" if match else ""


def _has_commit(branch: _Branch, commit: CommitInfo) -> bool:
    return commit.sha in branch.has or branch.equivalents.find(commit) is not None
