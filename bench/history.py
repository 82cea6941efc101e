"""Answers about history against git itself, over real backports, and their cost beside an older version and git's commands.

    tox run -e bench-history -- --repo PATH --branches GLOB [--part I N] [--before CHECKOUT] [--fixes N] [--json OUT]

Each commit of a release branch with a trailer that names its original is picked again onto what was there before it, by us and
by a plain `git cherry-pick` (`-m 1` for a merge). Costs are CPU seconds of whole commands, of us and of all that they start.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from backproof.adapters.git.command import checked, run_git
from backproof.history.branches import find_main, match_branches
from backproof.history.explain import explain_pick
from backproof.history.landings import Landings
from backproof.history.picks import Picker
from backproof.history.repository import open_repository
from backproof.history.try_causes import PICKED
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
REVERTS = "This reverts commit "


@dataclass(frozen=True, kw_only=True)
class Row:
    """A backport that landed."""

    branch: str
    tip: str
    backport: str
    parent: str
    original: str
    mainline: int | None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, required=True)
    parser.add_argument("--branches", action="append", required=True)
    parser.add_argument(
        "--part", type=int, nargs=2, default=(0, 1), metavar=("I", "N"), help="pick each Nth row, from I"
    )
    parser.add_argument("--no-costs", action="store_true", help="measure no commands")
    parser.add_argument("--before", type=Path, help="a checkout of an older version, to measure beside this one")
    parser.add_argument("--fixes", type=int, default=60, help="commits of main that are surveyed at once")
    parser.add_argument("--json", type=Path, help="write the figures there")
    args = parser.parse_args()
    if not args.repo.exists():
        click.echo(f"skipped: {args.repo} is not at hand")
        return 0
    figures: dict[str, Any] = {}
    with open_repository(str(args.repo), click.echo) as opened:
        branches = match_branches(opened.source, args.branches)
        main_tip = find_main(opened.source, None)
        landings = Landings(opened.picker, [main_tip, *branches.values()])
        rows = list(list_rows(opened.picker, landings, branches, main_tip))
        figures |= compare_recognised(opened.picker, landings, rows)
        figures |= compare_picks(opened.picker, rows[args.part[0] :: args.part[1]])
        conflicts = list(list_conflicts(opened.picker, rows))
        figures |= explain_conflicts(opened.picker, conflicts)
    if not args.no_costs:
        figures |= measure_commands(args, branches, main_tip)
        figures |= measure_explanations(args, conflicts)
    for name, value in figures.items():
        click.echo(f"{name:58} {value}")
    if args.json:
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0


def list_rows(picker: Picker, landings: Landings, branches: Mapping[str, str], main_tip: str) -> Iterator[Row]:
    """Yield each commit that only a branch has and that names exactly one original which the repository has."""
    for branch, tip in branches.items():
        command = ("rev-list", "--no-commit-header", "--format=%H", tip, f"^{main_tip}")
        for sha in checked(picker.store.run_git(*command), "no log").text.split():
            relations = landings.read(landings.index.get_number(sha))
            sources = {landings.index.resolve(name) for name in relations.sources} - {0}
            if len(sources) != 1 or not relations.commit.parents or relations.takes_back:
                continue
            original = picker.objects.read_commit(landings.index.read_sha(sources.pop()))
            parent = relations.commit.parents[0]
            line = picker.find_mainline(original)
            yield Row(branch=branch, tip=tip, backport=sha, parent=parent, original=original.sha, mainline=line)


def compare_recognised(picker: Picker, landings: Landings, rows: list[Row]) -> dict[str, Any]:
    """Is each backport found on its branch, and none that was reverted there? The oracle reads git's own wording alone."""
    landings.index.mark(row.original for row in rows)
    reverted = {row.backport for row in rows if is_reverted(picker, row.tip, row.backport)}
    again = Counter((row.tip, row.original) for row in rows if row.backport not in reverted)
    count: Counter[str] = Counter()
    for row in rows:
        landing = landings.find(row.original, row.tip, deep=True)
        if row.backport in reverted and not again[row.tip, row.original]:
            count["reverted"] += 1
            if landing is not None:
                click.echo(f"present though reverted: {row.branch} {row.backport[:12]} by {landing.how}")
                count["wrong"] += 1
        else:
            count["standing"] += 1
            count["recognised"] += landing is not None
            if landing is None:
                click.echo(f"not recognised: {row.branch} {row.backport[:12]} of {row.original[:12]}")
    return {
        "backports with a trailer": len(rows),
        "of these of merges": sum(row.mainline is not None for row in rows),
        "recognised on their branch": f"{count['recognised']} of {count['standing']}",
        "reverted there, and reported as present": f"{count['wrong']} of {count['reverted']}",
    }


def list_conflicts(picker: Picker, rows: list[Row]) -> Iterator[Row]:
    questions = [(picker.read_change(row.original), picker.read_tree(row.parent)) for row in rows]
    for row, pick in zip(rows, picker.pick_all(questions), strict=True):
        if pick.outcome is PickOutcome.CONFLICT:
            yield row


def explain_conflicts(picker: Picker, rows: list[Row]) -> dict[str, Any]:
    """Count the conflicts with commits, or parts of them, that picked first make the fix land."""
    count: Counter[str] = Counter()
    for row in rows:
        record = explain_pick(picker, fix=row.original, branch=row.branch, release=row.parent)
        whole = bool(record.together) or any(cause.verdict in PICKED for cause in record.causes)
        count["hunks" if record.hunks_alone else "commits" if whole else "none"] += 1
    ways = count["commits"] + count["hunks"]
    return {"conflicts with a verified way on": f"{ways} of {len(rows)} (by hunks alone {count['hunks']})"}


def is_reverted(picker: Picker, tip: str, sha: str, pull: int | None = None) -> bool:
    """Read git's own wording of a revert, GitHub's button, and the number of the pull request."""
    title = re.escape(picker.objects.read_commit(sha).subject)
    wordings = [f"{REVERTS}{sha}", f'^Revert "{title}"', *([f"Reverts? [^ ]*#{pull}([^0-9]|$)"] if pull else [])]
    greps = [f"--grep={wording}" for wording in wordings]
    done = picker.store.run_git("log", "--format=%H", "--extended-regexp", *greps, f"{sha}..{tip}")
    return any(not is_reverted(picker, tip, revert) for revert in checked(done, "no log").text.split())


def compare_picks(picker: Picker, rows: list[Row]) -> dict[str, Any]:
    """Pick each row by `git cherry-pick` in a worktree and by us; outcome and tree must be the same."""
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name) / "worktree"
        add = ("worktree", "add", "--quiet", "--detach", "--no-checkout", str(folder), rows[0].parent)
        checked(picker.store.run_git(*add), "no worktree")
        for row in rows:
            ours = picker.pick(row.original, picker.read_tree(row.parent))
            tree = pick_by_git(folder, row)
            same = ours.tree == tree if tree else ours.outcome is PickOutcome.CONFLICT
            count["same"] += same
            count[str(ours.outcome)] += 1
            if not same:
                click.echo(
                    f"differs: {row.branch} {row.backport[:12]} of {row.original[:12]}: {ours.outcome}, git {tree}"
                )
    return {
        "outcome and tree equal git's": f"{count.pop('same')} of {len(rows)}",
        "outcomes": dict(count.most_common()),
        "speed of simulation, a second in one batch": measure_batch(picker, rows),
    }


def pick_by_git(folder: Path, row: Row) -> str | None:
    """Return the tree that a plain cherry-pick gives; None where it conflicts."""
    checked(run_git("-C", str(folder), "reset", "--quiet", "--hard", row.parent), "no checkout")
    line = ["-m", str(row.mainline)] if row.mainline else []
    done = run_git("-C", str(folder), "cherry-pick", "--no-commit", *line, row.original)
    if done.code != 0:
        return None
    return checked(run_git("-C", str(folder), "write-tree"), "no tree").text.strip()


def measure_batch(picker: Picker, rows: list[Row]) -> float:
    questions = [(picker.read_change(row.original), picker.read_tree(row.parent)) for row in rows]
    fresh = Picker(picker.store)  # the other one remembers these merges
    started = time.monotonic()
    fresh.pick_all(questions)
    return round(len(rows) / (time.monotonic() - started), 1)


def measure_commands(args: argparse.Namespace, branches: Mapping[str, str], main_tip: str) -> dict[str, Any]:
    """Measure whole commands of each version with a warm index, and the first one, which makes the index."""
    git_dir = (
        "--git-dir",
        checked(run_git("-C", str(args.repo), "rev-parse", "--absolute-git-dir"), "none").text.strip(),
    )
    listed = run_git(*git_dir, "log", "--first-parent", "--format=%H", f"-{args.fixes}", main_tip)
    fixes = checked(listed, "no log").text.split()
    globs = [flag for glob in args.branches for flag in ("--branches", glob)]
    figures: dict[str, Any] = {"branches": len(branches)}
    with tempfile.TemporaryDirectory(prefix="bench-") as cache:
        for version, checkout in list_versions(args).items():
            survey = ("history", "survey", "--repo", str(args.repo), *globs)
            costs = [
                measure_cpu(checkout, cache, *survey, *fixes[: (1 if many == 1 else args.fixes)]) for many in (1, 1, 2)
            ]
            names = ("survey of one commit, first", "survey of one commit", f"survey of {len(fixes)} commits")
            figures |= {f"{name}, {version}": f"{cost:.2f} s of CPU" for name, cost in zip(names, costs, strict=True)}
    log = measure_git(*git_dir, "log", "--format=%H %B", main_tip, *branches.values())
    contains = measure_git(*git_dir, "for-each-ref", "--contains", fixes[-1], "refs/heads")
    figures["git log of all branches, by git"] = f"{log:.2f} s of CPU"
    figures["git for-each-ref --contains one commit"] = f"{contains:.2f} s of CPU"
    return figures


def measure_explanations(args: argparse.Namespace, conflicts: list[Row]) -> dict[str, Any]:
    """Measure whole commands on each conflict, by every version in turn, with a warm index."""
    rows = list(dict.fromkeys((row.original, row.parent) for row in conflicts))
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="bench-") as cache:
        for version, checkout in list_versions(args).items():
            command = ("history", "explain", "--repo", str(args.repo), "--branch")
            costs = [measure_cpu(checkout, cache, *command, parent, original) for original, parent in (rows[0], *rows)]
            middle, worst = statistics.median(costs[1:]), max(costs[1:])
            figures[f"explain of {len(rows)} conflicts, {version}"] = (
                f"median {middle:.2f}, at most {worst:.2f} s of CPU"
            )
    return figures


def list_versions(args: argparse.Namespace) -> dict[str, Path]:
    return {"now": ROOT, **({"before": args.before} if args.before else {})}


def measure_cpu(checkout: Path, cache: str, *command: str) -> float:
    # As an installed one is, the code is compiled: the first command of a version does that.
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env = {**settings, "PYTHONPATH": str(checkout / "pipeline"), "XDG_CACHE_HOME": cache}
    return measure([sys.executable, "-m", "backproof", *command], env)


def measure_git(*command: str) -> float:
    return measure(["git", *command], dict(os.environ))


def measure(argv: list[str], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(argv, env=env, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if done.returncode not in {0, 3}:  # 3: the conflict that is explained is for a person
        raise SystemExit(f"{argv[:6]} ended with {done.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    sys.exit(main())
