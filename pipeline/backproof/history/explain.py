"""Why a fix does not land on a branch, and how to go on: causes found by blame, put to the test by simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.adapters.git.log import log
from backproof.core.plural import format_count
from backproof.history import causes, shell_steps
from backproof.history.divergence import Ground
from backproof.history.equivalents import pull_number
from backproof.history.followups import follow_ups
from backproof.history.picks import keep_all
from backproof.history.records import CauseRecord, ExplainRecord
from backproof.history.try_causes import WHOLE, Verdict, verify
from backproof.records.picks import ConflictRecord, PickOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.causes import Causes
    from backproof.history.picks import Drop, Simulation, Simulator
    from backproof.history.records import FollowUp
    from backproof.history.try_causes import Step, Verified

SHOWN = 3
_TRIED = 12


def explain(
    simulator: Simulator, *, fix: str, branch: str, release: str, drop: Drop = keep_all, main: str | None = None
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
    onto = simulator.tree(release)
    simulation = simulator.pick(fix, onto, drop=drop)
    later = _later(simulator, fix, release, main)
    subject = simulator.store.commit(fix).subject
    start = shell_steps.start(fix, branch, release)
    if simulation.landing is not PickOutcome.CONFLICT:
        commands = (
            [*start, *shell_steps.landing(simulator, fix, simulation, onto)] if shell_steps.lands(simulation) else []
        )
        return ExplainRecord(
            fix=fix,
            subject=subject,
            branch=branch,
            release=release,
            outcome=simulation.landing,
            conflicts=clash_records(simulation, {}),
            follow_ups=later,
            sentence=_no_conflict(simulation, branch),
            commands=tuple(commands),
        )
    ground = Ground(simulator, fix=fix, release=release)
    found = causes.find(ground, simulation)
    checked = verify(ground, found.ranked[:_TRIED], simulation, onto, drop=drop, most=SHOWN)
    return ExplainRecord(
        fix=fix,
        subject=subject,
        branch=branch,
        release=release,
        outcome=simulation.landing,
        conflicts=clash_records(simulation, found.totals),
        causes=tuple(_cause(step, found) for step in checked.steps),
        together=tuple(step.cause.commit.sha for step in checked.together),
        more=max(0, len(found.ranked) - len(checked.there) - len(checked.steps)),
        follow_ups=later,
        sentence=_conflict(simulation, checked, branch),
        commands=(*start, *_commands(simulator, fix, simulation, onto, checked=checked, drop=drop)),
    )


def clash_records(simulation: Simulation, totals: dict[str, int]) -> tuple[ConflictRecord, ...]:
    return tuple(
        ConflictRecord(path=each.path, kind=each.kind, dropped=each.dropped, lines=totals.get(each.path, 0))
        for each in simulation.clashes
    )


def _later(simulator: Simulator, fix: str, release: str, main: str | None) -> tuple[FollowUp, ...]:
    if main is None:
        return ()
    ground = Ground(simulator, fix=fix, release=release)
    commit = simulator.store.commit(fix)
    commits = log(simulator.store, main, f"^{fix}", options=("--reverse",))
    found = follow_ups(commit, commits, paths_of=ground.paths_of)
    return tuple(each for each, info in found if ground.landed.find(info) is None)


def _cause(step: Step, found: Causes) -> CauseRecord:
    cause = step.cause
    of = sum(found.totals.get(path, 0) for path in cause.lines)
    return CauseRecord(
        commit=cause.commit.sha,
        subject=cause.commit.subject,
        pull=pull_number(cause.commit),
        side=cause.side,
        how=cause.how,
        lines=cause.weight,
        of=of,
        files=tuple(sorted(cause.lines)),
        weak=cause.weak,
        verdict=step.verdict,
        solves=step.solves,
        sentence=_said(step, of),
    )


def _said(step: Step, of: int) -> str:
    cause = step.cause
    number = pull_number(cause.commit)
    name = f"#{number}" if number else cause.commit.sha[:12]
    files = ", ".join(sorted(cause.lines))
    explains = f", explains {cause.weight} of {of} conflicting lines in {files}" if cause.weight else f" ({files})"
    solved = ", ".join(step.solves)
    verdicts = {
        Verdict.MAKES_CLEAN: f"picking {name} first makes this clean",
        Verdict.HUNKS_DO: f"its hunks in {solved} alone do",
        Verdict.TAKEN_BACK: f"without {name} on the release this is clean",
        Verdict.PICKED_HELPS: f"picking {name} first solves {solved}",
        Verdict.HUNKS_HELP: f"its hunks alone solve {solved}",
        Verdict.TAKEN_BACK_HELPS: f"without {name} on the release {solved} would be clean",
        Verdict.FEWER: f"{_way(step, name)} removes {step.removes[0]} of {step.removes[1]} conflicts",
        Verdict.RELATED: "related only: no simulation shows that it helps",
    }
    return f"{name} {cause.how}{explains}; {verdicts[step.verdict]}"


def _way(step: Step, name: str) -> str:
    ways = {Verdict.HUNKS_DO: f"taking the hunks of {name} in these files", Verdict.TAKEN_BACK: f"taking back {name}"}
    return ways.get(step.way, f"picking {name} first")


def _no_conflict(simulation: Simulation, branch: str) -> str:
    return {
        PickOutcome.CLEAN: f"it lands cleanly on {branch}",
        PickOutcome.CLEAN_AFTER_DROPS: f"it lands on {branch} without {', '.join(simulation.dropped)}",
        PickOutcome.EMPTY: "it changes nothing outside the dropped paths",
        PickOutcome.ALREADY_THERE: f"{branch} has this change already: a pick gives the tree that it has",
        PickOutcome.MERGE_COMMIT: "it is a merge commit: pick its parts, or say which parent is the main line",
        PickOutcome.UNKNOWN: f"could not be told: {simulation.why}",
        PickOutcome.CONFLICT: "it conflicts",
    }[simulation.landing]


def _conflict(simulation: Simulation, checked: Verified, branch: str) -> str:
    listed = "; ".join(f"{each.path} ({each.kind})" for each in simulation.real)
    start = f"it conflicts on {branch} in {format_count(len(simulation.real), 'file')}: {listed}"
    best = next((step for step in checked.steps if step.verdict in WHOLE), None)
    if best is not None:
        return f"{start}. {_said(best, 0).split('; ', 1)[-1].capitalize()}"
    if checked.together:
        names = ", ".join(step.cause.commit.sha[:12] for step in checked.together)
        return f"{start}. Together {names} make this clean"
    if checked.steps:
        return f"{start}. No single commit makes this clean"
    return f"{start}. Both sides changed the same place; no commit could be named"


def _commands(
    simulator: Simulator, fix: str, simulation: Simulation, onto: str, *, checked: Verified, drop: Drop
) -> Sequence[str]:
    """The way that a simulation has shown; by hand where none was found, or where it would take back the release's own."""
    best = next((s for s in checked.steps if s.verdict in {Verdict.MAKES_CLEAN, Verdict.HUNKS_DO}), None)
    taken = (best,) if best else checked.together
    if not taken or any(step.cause.side == "release" for step in taken):
        return shell_steps.by_hand(simulator, fix, simulation, onto, checked.steps)
    last = taken[-1].landed
    tree = str(last.tree) if last else onto
    final = simulator.apply([(simulator.change(fix), tree)], drop=drop)[0]
    return [*shell_steps.steps(simulator, taken, simulation, onto), *shell_steps.landing(simulator, fix, final, tree)]
