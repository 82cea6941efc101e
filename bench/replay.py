"""Replays real backports: does a simulated pick say what a real one gave, how fast, and are conflicts explained?

    tox run -e bench-replay -- --repo PATH --rows FILE [--json OUT] [--sample N] [--explain N] [--calls]

A row is one JSON object a line: `parent` (the release commit), `originals` (the commits on main), `backport` (what the
maintainers committed), `outcome` and, where a pick lands, `pick_tree`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import click
from backproof.adapters.git import Source, Store
from backproof.adapters.git.command import checked, run_git
from backproof.adapters.git.merging import read_version
from backproof.core.errors import BackproofError
from backproof.history.explain import explain_pick
from backproof.history.lacking_names import find_lacking_names
from backproof.history.landings import Landings
from backproof.history.path_filter import is_secondary
from backproof.history.picks import Picker, PickResult
from backproof.history.try_causes import PICKED, TrialVerdict
from backproof.records.picks import PickOutcome
from history import is_reverted

Row = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--sample", type=int, default=12, help="rows that the slow peers pick")
    parser.add_argument("--explain", type=int, default=0, help="explain only so many conflicts (0: all)")
    parser.add_argument("--every", type=int, default=1, help="explain each Nth conflict")
    parser.add_argument("--calls", action="store_true", help="also look for calls that the release does not take")
    args = parser.parse_args()
    if not args.repo.exists() or not args.rows.exists():
        click.echo(f"skipped: {args.repo if not args.repo.exists() else args.rows} is not at hand")
        return 0
    rows = [json.loads(line) for line in args.rows.read_text(encoding="utf-8").splitlines() if line.strip()]
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        store = Store.create(Path(folder) / "store.git", Source.open(str(args.repo)))
        with Picker(store, say=click.echo) as picker:
            figures = measure(picker, rows, args, Path(folder))
    for name, value in figures.items():
        click.echo(f"{name:44} {value}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return judged(figures)


def measure(picker: Picker, rows: list[Row], args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    single = [row for row in rows if len(row["originals"]) == 1]
    found, seconds = simulated(picker, single)
    figures: dict[str, Any] = {"git": ".".join(map(str, read_version())), "rows": len(rows)}
    figures["rows with several originals (no outcome)"] = len(rows) - len(single)
    figures |= agreement(picker, single, found)
    figures["simulations per second, one batch"] = round(len(single) / seconds, 1)
    sample = single[:: max(1, len(single) // max(1, args.sample))][: args.sample]
    if args.sample:
        figures |= peers(picker, Source.open(str(args.repo)), sample, folder, len(single) / seconds)
    conflicts = [row for row, each in zip(single, found, strict=True) if each.outcome is PickOutcome.CONFLICT]
    figures |= recognised(picker, Source.open(str(args.repo)), single)
    figures |= dropped(picker, conflicts)
    figures |= explained(picker, conflicts[: args.explain or None : args.every])
    if args.calls:
        figures |= calls(picker, single, found)
    return figures


def original(row: Row) -> str:
    return str(row["originals"][0]["sha"])


def simulated(picker: Picker, rows: list[Row]) -> tuple[list[PickResult], float]:
    """Every row in one batch, reading of the commits included."""
    started = time.monotonic()
    questions = [(picker.read_change(original(row)), picker.read_tree(row["parent"])) for row in rows]
    found = picker.pick_all(questions)
    return found, time.monotonic() - started


def agreement(picker: Picker, rows: list[Row], found: list[PickResult]) -> dict[str, Any]:
    same = trees = outcome = 0
    for row, each in zip(rows, found, strict=True):
        same += said(picker, row, each) == row["outcome"]
        if row.get("pick_tree"):
            outcome += 1
            trees += each.tree == row["pick_tree"]
    return {
        "outcome agrees, of rows": f"{same} of {len(rows)}",
        "outcome agrees, share": round(same / len(rows), 4),
        "tree equals pick_tree": f"{trees} of {outcome}",
        "outcomes": dict(Counter(str(row["outcome"]) for row in rows)),
    }


def said(picker: Picker, row: Row, each: PickResult) -> str:
    """The outcome in the words of the rows."""
    if each.outcome in {PickOutcome.EMPTY, PickOutcome.ALREADY_THERE}:
        return "empty"
    if each.outcome is PickOutcome.CLEAN:
        return "clean-identical" if each.tree == picker.read_tree(row["backport"]) else "clean-different"
    return str(each.outcome)


def recognised(picker: Picker, source: Source, rows: list[Row]) -> dict[str, Any]:
    """Is a backport that its branch took back reported as there? The oracle reads git's own wording alone."""
    tips = {row["branch"]: source.resolve_branch(row["branch"]) for row in rows}
    landings = Landings(picker, [*tips.values(), *map(original, rows)])
    reverted = [row for row in rows if is_reverted(picker, tips[row["branch"]], row["backport"], row["backport_pr"])]
    again = Counter((row["branch"], original(row)) for row in rows if row not in reverted)
    gone = [row for row in reverted if not again[row["branch"], original(row)]]
    wrong = [row for row in gone if landings.find(original(row), tips[row["branch"]], deep=True)]
    for row in wrong:
        click.echo(f"present though reverted: {row['branch']} {row['backport'][:12]}")
    standing = [row for row in rows if row not in reverted]
    there = sum(landings.find(original(row), tips[row["branch"]], deep=True) is not None for row in standing)
    return {
        "reverted there, and reported as present": f"{len(wrong)} of {len(gone)}",
        "recognised on their branch, most without a trailer": f"{there} of {len(standing)}",
    }


def peers(picker: Picker, source: Source, sample: list[Row], folder: Path, batch: float) -> dict[str, Any]:
    """The same rows by `git cherry-pick` in a full and in a sparse worktree, checkout included, and by us one by one."""
    started = time.monotonic()
    for row in sample:
        picker.pick(original(row), picker.read_tree(row["parent"]))
    alone = len(sample) / (time.monotonic() - started)
    # Stores of their own: a sparse worktree rewrites the configuration of its repository.
    full = picked(Store.create(folder / "full.git", source), sample, folder / "full", sparse=False)
    sparse = picked(Store.create(folder / "sparse.git", source), sample, folder / "sparse", sparse=True)
    return {
        "sampled rows": len(sample),
        "simulations per second, one process each": round(alone, 1),
        "cherry-picks per second, full worktree": round(full, 2),
        "cherry-picks per second, sparse worktree": round(sparse, 2),
        "batch against full worktree, times": round(batch / full, 1),
        "batch against sparse worktree, times": round(batch / sparse, 1),
        "one by one against full worktree, times": round(alone / full, 1),
    }


def picked(store: Store, rows: list[Row], folder: Path, *, sparse: bool) -> float:
    checked(
        store.run_git("worktree", "add", "--quiet", "--detach", "--no-checkout", str(folder), rows[0]["parent"]),
        "no worktree for the peer",
    )
    if sparse:
        checked(run_git("-C", str(folder), "sparse-checkout", "set", "--cone"), "no sparse worktree")
    who = ("user.name=Bench", "user.email=bench@localhost")
    run_git("-C", str(folder), "checkout", "--quiet", "--force", "--detach", rows[-1]["parent"])
    started = time.monotonic()
    for row in rows:
        run_git("-C", str(folder), "checkout", "--quiet", "--force", "--detach", row["parent"])
        done = run_git("-C", str(folder), "cherry-pick", original(row), settings=who)
        if done.code != 0:
            run_git("-C", str(folder), "cherry-pick", "--abort")
    return len(rows) / (time.monotonic() - started)


def dropped(picker: Picker, rows: list[Row]) -> dict[str, Any]:
    """Conflicts that vanish without docs, tests and CI, and whether the code is then the maintainers'."""
    vanish = equal = 0
    for row in rows:
        onto = picker.read_tree(row["parent"])
        each = picker.pick(original(row), onto, drop=is_secondary)
        if each.tree is None:
            continue
        vanish += 1
        theirs = picker.read_tree(row["backport"])
        aside = [path for path in picker.objects.diff_trees(onto, theirs) if is_secondary(path)]
        equal += each.tree == picker.restore_paths(theirs, onto, aside)
    return {
        "conflicts": len(rows),
        "vanish without docs, tests and CI": f"{vanish} of {len(rows)}",
        "of these, code equals the maintainers'": f"{equal} of {vanish}",
    }


def explained(picker: Picker, rows: list[Row]) -> dict[str, Any]:
    count: Counter[str] = Counter()
    best: Counter[str] = Counter()
    started = time.monotonic()
    for row in rows:
        try:
            found = explain_pick(picker, fix=original(row), branch=row["branch"], release=row["parent"])
        except BackproofError as error:
            click.echo(f"{original(row)[:12]}: {error.what}")
            count["errors"] += 1
            continue
        verdicts = [each.verdict for each in found.causes]
        count["named"] += bool(found.causes)
        count["by lines"] += any(not each.weak for each in found.causes)
        count["whole"] += bool(found.together) or any(each in PICKED for each in verdicts)
        count["files"] += bool(found.together) or any(
            each not in {TrialVerdict.RELATED, TrialVerdict.FEWER} for each in verdicts
        )
        count["some"] += bool(found.together) or any(each is not TrialVerdict.RELATED for each in verdicts)
        first = min(verdicts, key=list(TrialVerdict).index, default=None)
        best["together these are clean" if found.together else str(first)] += 1
    total = len(rows)
    return {
        "conflicts explained by a commit": f"{count['named']} of {total}",
        "named, share": round(count["named"] / max(1, total), 4),
        "of these by lines, not by path alone": count["by lines"],
        "verified: taken first, the whole pick is clean": f"{count['whole']} of {total}",
        "verified: makes at least one file clean": f"{count['files']} of {total}",
        "verified: takes at least one conflict away": f"{count['some']} of {total}",
        "best verdict": dict(best.most_common()),
        "explanation errors": count["errors"],
        "seconds per explanation": round((time.monotonic() - started) / max(1, total), 3),
    }


def calls(picker: Picker, rows: list[Row], found: list[PickResult]) -> dict[str, Any]:
    flagged = outcome = 0
    for row, each in zip(rows, found, strict=True):
        if each.tree is None or each.outcome is not PickOutcome.CLEAN:
            continue
        outcome += 1
        onto = picker.read_tree(row["parent"])
        suspects = find_lacking_names(picker, picker.read_change(original(row)), onto, each.tree, drop=lambda _: False)
        flagged += bool(suspects)
        for one in suspects:
            click.echo(f"{row['outcome']} {row['backport'][:12]} {one}")
    return {"clean picks with a suspect call": f"{flagged} of {outcome}"}


def judged(figures: dict[str, Any]) -> int:
    wanted = {
        "outcome agrees, share": 0.99,
        "named, share": 0.95,
        "batch against full worktree, times": 20,
    }
    missed = [
        f"{name}: {figures[name]}, wanted {least}" for name, least in wanted.items() if figures.get(name, least) < least
    ]
    for each in missed:
        click.echo(f"missed: {each}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
