"""A fix and all release branches: which need it, where it lands, and what comes with it, from git objects alone."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.errors import HostError
from backproof.history.affected import FaultyLines, judge_cause, judge_lines, read_faulty_lines
from backproof.history.explain import record_conflicts
from backproof.history.followups import find_follow_ups
from backproof.history.lacking_names import NameChecks
from backproof.history.landings import Landings
from backproof.history.picks import PickResult, is_landing, keep_all
from backproof.history.records import SurveyRecord, SurveyRow
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.picks import Change, Drop, Picker
    from backproof.history.records import FollowUp

_CUT = (
    "the clone is shallow: a fix that a branch has under another hash, and later fixes, may be missed; "
    "complete it with `git fetch --unshallow`"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Fix:
    """A commit; `change` is None where it is hidden, or a merge whose main line nobody has said."""

    commit: CommitInfo
    change: Change | None
    faulty: FaultyLines | None
    later: Sequence[FollowUp]


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
    landings = Landings(picker, [main, *branches.values(), *commits])
    fixes = [_read_fix(picker, landings, sha, main, drop) for sha in commits]
    checks = NameChecks(picker, drop)
    trees = {name: picker.read_tree(tip) for name, tip in branches.items()}
    rows: list[SurveyRow] = []
    for group in [[fix] for fix in fixes] if series else [fixes]:
        new = _survey_fixes(picker, landings, group, branches, trees, main=main, drop=drop, checks=checks)
        rows += new
        if series:
            trees.update({row.branch: row.tree for row in new if row.tree is not None})
    return SurveyRecord(
        commits={fix.commit.sha: fix.commit.subject for fix in fixes},
        main=main,
        rows=tuple(sorted(rows, key=lambda row: list(branches).index(row.branch))),
        limits=(*((_CUT,) if picker.store.read_boundary() else ()), *checks.limits),
        seconds=round(time.monotonic() - started, 3),
    )


def _read_fix(picker: Picker, landings: Landings, sha: str, main: str, drop: Drop) -> _Fix:
    commit = picker.objects.read_commit(sha)
    try:
        change = picker.read_change(sha)
    except (HostError, ValueError):
        return _Fix(commit=commit, change=None, faulty=None, later=())
    causes = landings.list_causes(sha)
    faulty = read_faulty_lines(picker, change, drop, causes)
    return _Fix(commit=commit, change=change, faulty=faulty, later=find_follow_ups(picker, landings, sha, main))


def _survey_fixes(
    picker: Picker,
    landings: Landings,
    fixes: Sequence[_Fix],
    branches: Mapping[str, str],
    trees: Mapping[str, str],
    *,
    main: str,
    drop: Drop,
    checks: NameChecks,
) -> list[SurveyRow]:
    pairs = [(fix, name) for fix in fixes for name in branches]
    evidence = [_find_evidence(landings, fix, branches[name]) for fix, name in pairs]
    # Where the change is known to be, nothing is tried: far from its own parent that costs 200 ms a branch.
    tried = [at for at, proof in enumerate(evidence) if not proof]
    picks = dict(zip(tried, _pick_fixes(picker, [pairs[at] for at in tried], trees, drop), strict=True))
    there = PickResult(outcome=PickOutcome.ALREADY_THERE)
    return [
        _make_row(
            picker,
            landings,
            fix,
            (name, branches[name], trees[name]),
            picks.get(at, there),
            evidence=evidence[at],
            notes=tuple(landings.describe_taken_back(fix.commit.sha, branches[name], main)),
            suspects=_find_suspects(checks, fix, trees[name], picks.get(at, there)),
        )
        for at, (fix, name) in enumerate(pairs)
    ]


def _find_evidence(landings: Landings, fix: _Fix, tip: str) -> str:
    """Return what shows without a pick that the branch has the change; empty when nothing does."""
    landing = landings.find(fix.commit.sha, tip, deep=fix.change is not None)
    if landing is None:
        return ""
    own = landing.commit.sha == fix.commit.sha
    return landing.how if own else f"{landing.how}: {landing.commit.sha[:12]} {landing.commit.subject}"


def _pick_fixes(
    picker: Picker, pairs: Sequence[tuple[_Fix, str]], trees: Mapping[str, str], drop: Drop
) -> list[PickResult]:
    """Pick all in one batch; a fix without a change says itself why."""
    questions = [(fix.change, trees[name]) for fix, name in pairs if fix.change is not None]
    results = iter(picker.pick_all(questions, drop=drop))
    return [
        next(results) if fix.change is not None else picker.pick(fix.commit.sha, trees[name], drop=drop)
        for fix, name in pairs
    ]


def _find_suspects(checks: NameChecks, fix: _Fix, onto: str, pick: PickResult) -> tuple[str, ...]:
    if fix.change is None or not is_landing(pick):
        return ()
    return checks.find(fix.change, onto, str(pick.tree))


def _make_row(
    picker: Picker,
    landings: Landings,
    fix: _Fix,
    branch: tuple[str, str, str],
    pick: PickResult,
    *,
    evidence: str,
    notes: tuple[str, ...],
    suspects: tuple[str, ...],
) -> SurveyRow:
    name, tip, onto = branch
    if not evidence and pick.outcome is PickOutcome.ALREADY_THERE:
        evidence = "its tree: a pick changes nothing"
    state, why = ("no", "the branch has the fix") if evidence else ("unknown", pick.why)
    if not evidence and fix.faulty is not None and pick.outcome is not PickOutcome.UNKNOWN:
        state, why = judge_cause(landings, fix.faulty, tip) or judge_lines(picker, fix.faulty, onto, pick)
    return SurveyRow(
        branch=name,
        release=tip,
        commit=fix.commit.sha,
        outcome=pick.outcome,
        there=evidence,
        affected=state,  # type: ignore[arg-type] # one of the literals by construction
        why=why,
        notes=notes,
        suspects=suspects,
        conflicts=record_conflicts(pick, {}),
        only_in_dropped=pick.only_in_dropped,
        dropped=pick.dropped,
        tree=pick.tree,
        lacks=tuple(item for item in fix.later if landings.find(item.commit, tip) is None),
    )
