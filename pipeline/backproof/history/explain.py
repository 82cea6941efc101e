"""Why a fix does not land on a branch, and how to go on: causes found by blame, put to the test by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.log import read_log
from backproof.core.plural import format_count
from backproof.history import causes, shell_steps
from backproof.history.divergence import Divergence
from backproof.history.equivalents import read_pull_number
from backproof.history.followups import find_follow_ups
from backproof.history.picks import keep_all
from backproof.history.records import CauseRecord, ExplainRecord
from backproof.history.try_causes import WHOLE, TrialVerdict, try_causes
from backproof.records.picks import ConflictRecord, PickOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.causes import Causes
    from backproof.history.picks import Drop, Picker, PickResult
    from backproof.history.records import FollowUp
    from backproof.history.try_causes import Trial, TriedCauses

SHOWN = 3
_TRIED = 12


def explain_pick(
    picker: Picker, *, fix: str, branch: str, release: str, drop: Drop = keep_all, main: str | None = None
) -> ExplainRecord:
    """Simulate the pick of `fix` on `release` and explain what stands in its way.

    Args:
        simulator: of the store that holds both.
        fix: the commit, a full hash.
        branch: the release branch's name, for people.
        release: the commit that the branch is at.
        drop: paths that are left out.
        main: where later fixes and reverts are looked for; nowhere when None.
    """
    onto = picker.read_tree(release)
    pick = picker.pick(fix, onto, drop=drop)
    later = _find_follow_ups(picker, fix, release, main)
    subject = picker.store.read_commit(fix).subject
    start = shell_steps.render_start(fix, branch, release)
    if pick.outcome is not PickOutcome.CONFLICT:
        commands = [*start, *shell_steps.render_pick(picker, fix, pick, onto)] if shell_steps.is_landing(pick) else []
        return ExplainRecord(
            fix=fix,
            subject=subject,
            branch=branch,
            release=release,
            outcome=pick.outcome,
            conflicts=record_conflicts(pick, {}),
            follow_ups=later,
            sentence=_describe_outcome(pick, branch),
            commands=tuple(commands),
        )
    divergence = Divergence(picker, fix=fix, release=release)
    found = causes.find_causes(divergence, pick)
    checked = try_causes(divergence, found.ranked[:_TRIED], pick, onto, drop=drop, most=SHOWN)
    return ExplainRecord(
        fix=fix,
        subject=subject,
        branch=branch,
        release=release,
        outcome=pick.outcome,
        conflicts=record_conflicts(pick, found.totals),
        causes=tuple(_record_cause(step, found) for step in checked.steps),
        together=tuple(step.cause.commit.sha for step in checked.together),
        more=max(0, len(found.ranked) - len(checked.there) - len(checked.steps)),
        follow_ups=later,
        sentence=_describe_conflict(pick, checked, branch),
        commands=(*start, *_render_commands(picker, fix, pick, onto, checked=checked, drop=drop)),
    )


def record_conflicts(pick: PickResult, totals: dict[str, int]) -> tuple[ConflictRecord, ...]:
    return tuple(
        ConflictRecord(path=each.path, kind=each.kind, dropped=each.dropped, lines=totals.get(each.path, 0))
        for each in pick.conflicts
    )


def _find_follow_ups(picker: Picker, fix: str, release: str, main: str | None) -> tuple[FollowUp, ...]:
    if main is None:
        return ()
    divergence = Divergence(picker, fix=fix, release=release)
    commit = picker.store.read_commit(fix)
    commits = read_log(picker.store, main, f"^{fix}", options=("--reverse",))
    found = find_follow_ups(commit, commits, paths_of=divergence.paths_of)
    return tuple(each for each, info in found if divergence.equivalents.find(info) is None)


def _record_cause(step: Trial, found: Causes) -> CauseRecord:
    cause = step.cause
    of = sum(found.totals.get(path, 0) for path in cause.lines)
    return CauseRecord(
        commit=cause.commit.sha,
        subject=cause.commit.subject,
        pull=read_pull_number(cause.commit),
        side=cause.side,
        how=cause.how,
        lines=cause.weight,
        of=of,
        files=tuple(sorted(cause.lines)),
        weak=cause.weak,
        verdict=step.verdict,
        solves=step.solves,
        sentence=_describe_step(step, of),
    )


def _describe_step(step: Trial, of: int) -> str:
    cause = step.cause
    number = read_pull_number(cause.commit)
    name = f"#{number}" if number else cause.commit.sha[:12]
    files = ", ".join(sorted(cause.lines))
    explains = f", explains {cause.weight} of {of} conflicting lines in {files}" if cause.weight else f" ({files})"
    solved = ", ".join(step.solves)
    verdicts = {
        TrialVerdict.MAKES_CLEAN: f"picking {name} first makes this clean",
        TrialVerdict.HUNKS_DO: f"its hunks in {solved} alone do",
        TrialVerdict.TAKEN_BACK: f"without {name} on the release this is clean",
        TrialVerdict.PICKED_HELPS: f"picking {name} first solves {solved}",
        TrialVerdict.HUNKS_HELP: f"its hunks alone solve {solved}",
        TrialVerdict.TAKEN_BACK_HELPS: f"without {name} on the release {solved} would be clean",
        TrialVerdict.FEWER: f"{_describe_way(step, name)} removes {step.removes[0]} of {step.removes[1]} conflicts",
        TrialVerdict.RELATED: "related only: no simulation shows that it helps",
    }
    return f"{name} {cause.how}{explains}; {verdicts[step.verdict]}"


def _describe_way(step: Trial, name: str) -> str:
    ways = {
        TrialVerdict.HUNKS_DO: f"taking the hunks of {name} in these files",
        TrialVerdict.TAKEN_BACK: f"taking back {name}",
    }
    return ways.get(step.way, f"picking {name} first")


def _describe_outcome(pick: PickResult, branch: str) -> str:
    return {
        PickOutcome.CLEAN: f"it lands cleanly on {branch}",
        PickOutcome.CLEAN_AFTER_DROPS: f"it lands on {branch} without {', '.join(pick.dropped)}",
        PickOutcome.EMPTY: "it changes nothing outside the dropped paths",
        PickOutcome.ALREADY_THERE: f"{branch} has this change already: a pick gives the tree that it has",
        PickOutcome.MERGE_COMMIT: "it is a merge commit: pick its parts, or say which parent is the main line",
        PickOutcome.UNKNOWN: f"could not be told: {pick.why}",
        PickOutcome.CONFLICT: "it conflicts",
    }[pick.outcome]


def _describe_conflict(pick: PickResult, checked: TriedCauses, branch: str) -> str:
    listed = "; ".join(f"{each.path} ({each.kind})" for each in pick.real_conflicts)
    start = f"it conflicts on {branch} in {format_count(len(pick.real_conflicts), 'file')}: {listed}"
    best = next((step for step in checked.steps if step.verdict in WHOLE), None)
    if best is not None:
        return f"{start}. {_describe_step(best, 0).split('; ', 1)[-1].capitalize()}"
    if checked.together:
        names = ", ".join(step.cause.commit.sha[:12] for step in checked.together)
        return f"{start}. Together {names} make this clean"
    if checked.steps:
        return f"{start}. No single commit makes this clean"
    return f"{start}. Both sides changed the same place; no commit could be named"


def _render_commands(
    picker: Picker, fix: str, pick: PickResult, onto: str, *, checked: TriedCauses, drop: Drop
) -> Sequence[str]:
    """The way that a simulation has shown; by hand where none was found, or where it would take back the release's own."""
    best = next((s for s in checked.steps if s.verdict in {TrialVerdict.MAKES_CLEAN, TrialVerdict.HUNKS_DO}), None)
    taken = (best,) if best else checked.together
    if not taken or any(step.cause.side == "release" for step in taken):
        return shell_steps.render_manual_pick(picker, fix, pick, onto, checked.steps)
    last = taken[-1].landed
    tree = str(last.tree) if last else onto
    final = picker.pick_all([(picker.read_change(fix), tree)], drop=drop)[0]
    return [*shell_steps.render_steps(picker, taken, pick, onto), *shell_steps.render_pick(picker, fix, final, tree)]
