"""The reasons why a fix does not land on a branch, found by blame and put to the test, and a way to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.plain_text import cut_text
from backproof.core.plural import format_count
from backproof.history import causes, shell_steps
from backproof.history.conflict_hunks import find_hunks
from backproof.history.divergence import Divergence, refuse_cut_history
from backproof.history.followups import find_follow_ups
from backproof.history.lacking_names import find_lacking_names, list_limits
from backproof.history.landings import Landings
from backproof.history.picks import is_landing, keep_all
from backproof.history.prerequisites import find_prerequisites
from backproof.history.records import CauseRecord, ExplainRecord, SidesRecord
from backproof.history.relations import Relations
from backproof.history.try_causes import PICKED, WHOLE, TrialVerdict, try_causes
from backproof.records.picks import ConflictKind, ConflictRecord, PickOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.history.causes import Causes
    from backproof.history.picks import Drop, Picker, PickResult
    from backproof.history.records import FollowUp
    from backproof.history.try_causes import Trial

SHOWN = 3
_NAMED = 6
_SIDES, _LONGEST = 5, 1000
"""Places shown to be adapted, and characters of each side."""
_TRIED = 12


def explain_pick(
    picker: Picker,
    *,
    fix: str,
    branch: str,
    release: str,
    ref: str = "",
    drop: Drop = keep_all,
    main: str | None = None,
) -> ExplainRecord:
    """Try the pick of `fix` on `release` and explain what stands in its way.

    Args:
        picker: of the store that holds both.
        fix: the commit, a full hash.
        branch: the release branch's name, for people.
        release: the commit that the branch is at.
        ref: the ref that names it, for the record.
        drop: paths that are left out.
        main: where later fixes and reverts are looked for; nowhere when None.
    """
    onto = picker.read_tree(release)
    landings = Landings(picker, [fix, release, *([main] if main else [])])
    pick = picker.pick(fix, onto, drop=drop)
    start = shell_steps.render_start(fix, branch, release)
    commands = [*start, *shell_steps.render_pick(picker, fix, pick, onto)] if is_landing(pick) else []
    facts: dict[str, object] = {
        "fix": fix,
        "subject": picker.objects.read_commit(fix).subject,
        "branch": branch,
        "ref": ref,
        "release": release,
        "outcome": pick.outcome,
        "conflicts": record_conflicts(pick, {}),
        "follow_ups": _find_follow_ups(picker, landings, fix, release, main),
        "notes": tuple(_list_notes(landings, fix, release, main)),
        "suspects": _find_suspects(picker, fix, onto, pick, drop),
        "limits": list_limits(),
        "sentence": _describe_outcome(pick, branch),
        "commands": tuple(commands),
    }
    if pick.outcome is PickOutcome.CONFLICT or main is not None:
        refuse_cut_history(picker, fix, release)
    if pick.outcome is PickOutcome.CONFLICT:
        facts |= _explain_conflict(Divergence(picker, landings, fix=fix, release=release), pick, branch, onto, drop)
    return ExplainRecord.model_validate(facts)


def _explain_conflict(
    divergence: Divergence, pick: PickResult, branch: str, onto: str, drop: Drop
) -> dict[str, object]:
    named = causes.find_causes(divergence, pick)
    tried = try_causes(divergence, named.ranked[:_TRIED], pick, onto, drop=drop, limit=SHOWN)
    together: tuple[Trial, ...] = ()
    if not _has_way_on(tried.trials):
        lacking = [cause for cause in named.ranked[:_TRIED] if cause not in tried.present]
        together = find_prerequisites(divergence, lacking, pick, onto, drop=drop)
    fix = divergence.fix
    start = shell_steps.render_start(fix, branch, divergence.release)
    commands = _render_commands(divergence.picker, fix, pick, onto, shown=tried.trials, together=together, drop=drop)
    return {
        "conflicts": record_conflicts(pick, named.totals),
        "causes": tuple(_record_cause(trial, named) for trial in tried.trials),
        "together": tuple(trial.cause.commit.sha for trial in together),
        "hunks_alone": any(trial.way is TrialVerdict.SOME_HUNKS for trial in together),
        "more": max(0, len(named.ranked) - len(tried.present) - len(tried.trials)),
        "sentence": _describe_conflict(pick, tried.trials, together, branch),
        "sides": () if together or _has_way_on(tried.trials) else tuple(_list_sides(divergence.picker, pick)),
        "commands": (*start, *commands),
    }


def _has_way_on(trials: Sequence[Trial]) -> bool:
    return any(trial.verdict in PICKED for trial in trials)


def _list_sides(picker: Picker, pick: PickResult) -> Iterator[SidesRecord]:
    """Yield the lines that a person has to adapt, as the branch and the fix have them."""
    texts = [
        conflict for conflict in pick.real_conflicts if conflict.kind in {ConflictKind.CONTENT, ConflictKind.ADD_ADD}
    ]
    hunks = [(conflict.path, hunk) for conflict in texts for hunk in find_hunks(picker, conflict)]
    for path, hunk in hunks[:_SIDES]:
        ours, theirs = (
            cut_text(b"\n".join(side).decode("utf-8", "replace"), _LONGEST) for side in (hunk.ours, hunk.theirs)
        )
        yield SidesRecord(path=path, line=hunk.ours_span[0] + 1, branch=ours, fix=theirs)


def record_conflicts(pick: PickResult, totals: dict[str, int]) -> tuple[ConflictRecord, ...]:
    return tuple(
        ConflictRecord(
            path=conflict.path, kind=conflict.kind, dropped=conflict.dropped, lines=totals.get(conflict.path, 0)
        )
        for conflict in pick.conflicts
    )


def _find_follow_ups(
    picker: Picker, landings: Landings, fix: str, release: str, main: str | None
) -> tuple[FollowUp, ...]:
    later = find_follow_ups(picker, landings, fix, main) if main else ()
    return tuple(item for item in later if landings.find(item.commit, release) is None)


def _find_suspects(picker: Picker, fix: str, onto: str, pick: PickResult, drop: Drop) -> tuple[str, ...]:
    if not is_landing(pick):
        return ()
    return find_lacking_names(picker, picker.read_change(fix), onto, str(pick.tree), drop=drop)


def _list_notes(landings: Landings, fix: str, release: str, main: str | None) -> Iterator[str]:
    if landing := landings.find(fix, release, deep=True):
        yield f"the branch has it by {landing.how}: {landing.commit.sha[:12]} {landing.commit.subject}"
    yield from landings.describe_taken_back(fix, release, main)


def _record_cause(trial: Trial, named: Causes) -> CauseRecord:
    cause = trial.cause
    total = sum(named.totals.get(path, 0) for path in cause.lines)
    return CauseRecord(
        commit=cause.commit.sha,
        subject=cause.commit.subject,
        pull=Relations(cause.commit).pull,
        side=cause.side,
        how=cause.how,
        lines=cause.weight,
        of=total,
        files=tuple(sorted(cause.lines)),
        weak=cause.weak,
        verdict=trial.verdict,
        solves=trial.solves,
        sentence=_describe_step(trial, total),
    )


def _describe_step(trial: Trial, total: int) -> str:
    cause = trial.cause
    number = Relations(cause.commit).pull
    name = f"#{number}" if number else cause.commit.sha[:12]
    files = ", ".join(sorted(cause.lines))
    explains = f", explains {cause.weight} of {total} conflicting lines in {files}" if cause.weight else f" ({files})"
    solved = ", ".join(trial.solves)
    verdicts = {
        TrialVerdict.MAKES_CLEAN: f"picking {name} first makes this clean",
        TrialVerdict.HUNKS_DO: f"its hunks in {solved} alone do",
        TrialVerdict.TAKEN_BACK: f"without {name} on the release this is clean",
        TrialVerdict.PICKED_HELPS: f"picking {name} first solves {solved}",
        TrialVerdict.HUNKS_HELP: f"its hunks alone solve {solved}",
        TrialVerdict.TAKEN_BACK_HELPS: f"without {name} on the release {solved} would be clean",
        TrialVerdict.FEWER: f"{_describe_way(trial, name)} removes {trial.removes[0]} of {trial.removes[1]} conflicts",
        TrialVerdict.RELATED: "related only: no simulation shows that it helps",
    }
    return f"{name} {cause.how}{explains}; {verdicts[trial.verdict]}"


def _describe_way(trial: Trial, name: str) -> str:
    ways = {
        TrialVerdict.HUNKS_DO: f"taking the hunks of {name} in these files",
        TrialVerdict.TAKEN_BACK: f"taking back {name}",
    }
    return ways.get(trial.way, f"picking {name} first")


def _describe_outcome(pick: PickResult, branch: str) -> str:
    return {
        PickOutcome.CLEAN: f"it lands cleanly on {branch}",
        PickOutcome.CLEAN_AFTER_DROPS: f"it lands on {branch} without {', '.join(pick.dropped)}",
        PickOutcome.EMPTY: "it changes nothing outside the dropped paths",
        PickOutcome.ALREADY_THERE: f"{branch} has this change already: a pick gives the tree that it has",
        PickOutcome.MERGE_COMMIT: "it is a merge commit: pick its parts, or say which parent is the main line",
        PickOutcome.UNKNOWN: f"unknown: {pick.why}",
        PickOutcome.CONFLICT: "it conflicts",
    }[pick.outcome]


def _describe_conflict(pick: PickResult, shown: Sequence[Trial], together: Sequence[Trial], branch: str) -> str:
    listed = "; ".join(f"{conflict.path} ({conflict.kind})" for conflict in pick.real_conflicts)
    start = f"it conflicts on {branch} in {format_count(len(pick.real_conflicts), 'file')}: {listed}"
    best = next((trial for trial in shown if trial.verdict in WHOLE), None)
    if best is not None and not together:
        return f"{start}. {_describe_step(best, 0).split('; ', 1)[-1].capitalize()}"
    if together:
        names = ", ".join(trial.cause.commit.sha[:12] for trial in together[:_NAMED])
        more = f" and {len(together) - _NAMED} more" if len(together) > _NAMED else ""
        if together[0].way is TrialVerdict.SOME_HUNKS:
            return f"{start}. Hunks of {names}{more} make this clean"
        makes = f"{names} makes" if len(together) == 1 else f"Together {names}{more} make"
        return f"{start}. {makes} this clean"
    if shown:
        return f"{start}. No commit makes this clean: these lines are to be adapted, both sides are shown below"
    return f"{start}. Both sides changed the same place; no commit could be named"


def _render_commands(
    picker: Picker,
    fix: str,
    pick: PickResult,
    onto: str,
    *,
    shown: Sequence[Trial],
    together: Sequence[Trial],
    drop: Drop,
) -> Sequence[str]:
    """Return the way that was shown to work; by hand where none was found, or where it would take back the release's own."""
    taken = [trial for trial in shown if trial.verdict in PICKED][:1] or together
    if not taken:
        return shell_steps.render_manual_pick(picker, fix, pick, onto, shown)
    last = taken[-1].landed
    tree = str(last.tree) if last else onto
    final = picker.pick_all([(picker.read_change(fix), tree)], drop=drop)[0]
    return [*shell_steps.render_steps(picker, taken, pick, onto), *shell_steps.render_pick(picker, fix, final, tree)]
