"""Measure `backproof find` on a repository's own history: error texts that fixes quote in their messages, the messages hidden.

Usage: python bench/find.py REPO [--least 60] [--issues bench/find_issues.toml]

A pair is a commit of main whose subject says that it fixes something and whose message has a line with an exception or an error
code. The words come from these lines alone (messages are wrapped, so each with the next); the commits are searched without their messages.
With --issues, the words are those of public issues, and messages are searched, too. Candidates are all commits from where the last release branch before the fix forked off, to three weeks after the fix.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import tomllib
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git.log import find_merge_base
from backproof.history import branches
from backproof.history.find_fix import rank_fixes
from backproof.history.fix_index import ALL_PARTS, open_index
from backproof.history.repository import open_repository
from backproof.records.triage import Clue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backproof.history.repository import Repository

FIX = re.compile(r"\[?\bbug ?-?fix|\bfix(?:es|ed)?\b", re.IGNORECASE)
FAILURE = re.compile(r"\b[A-Z]\w*(?:Error|Exception)\b|error code (?:is )?\d{6}|\bE[0-9A-Z]\d{4}\b")
HIDDEN = tuple(part for part in ALL_PARTS if part != "body")
AFTER = timedelta(days=21)


def list_pairs(opened: Repository, main: str) -> Iterator[tuple[tuple[str, ...], int, list[Clue]]]:
    """Return fixes with their times (seconds) and the words of the failures that they quote, newest first."""
    done = opened.picker.store.run_git("log", "-z", "--no-merges", "--format=%H%n%ct%n%B", main)
    for text in done.text.split("\0"):
        sha, time_of, subject, *body = (*text.split("\n"), "", "", "")
        quoted = [f"{line} {after}" for line, after in pairwise(body) if FAILURE.search(line)]
        if quoted and FIX.search(subject):
            yield (sha,), int(time_of), [Clue(what="raised", text=line) for line in quoted]


def list_candidates(opened: Repository, forks: list[tuple[int, str]], main: str, sha: str, at: int) -> list[str]:
    """Return the commits of main from the last fork before the fix to three weeks after it."""
    before = [fork for time_of, fork in forks if time_of < at]
    options = [f"--before={at + int(AFTER.total_seconds())}", *(f"^{fork}" for fork in before[-1:])]
    listed = opened.picker.store.run_git("rev-list", "--no-merges", main, *options).text.split()
    return listed if sha in listed else [*listed, sha]


def list_queries(opened: Repository, path: Path) -> Iterator[tuple[tuple[str, ...], int, list[Clue]]]:
    """Return the fixes of each issue with the time of the first, and the words."""
    for query in tomllib.loads(path.read_text("utf-8"))["query"]:
        fixes = tuple(opened.resolve_commit(name) for name in query["fixes"])
        at = int(opened.picker.store.run_git("log", "-1", "--format=%ct", fixes[0]).text)
        clues = [Clue(what="code", text=code) for code in query.get("codes", ())]
        clues += [Clue(what="frame", text=f":1 in {name}") for name in query.get("frames", ())]
        yield fixes, at, [*clues, Clue(what="word", text=query["words"])]


def find_forks(opened: Repository, main: str) -> list[tuple[int, str]]:
    store = opened.picker.store
    found = {
        find_merge_base(store, main, tip) for tip in branches.match_branches(opened.source, ("release*",)).values()
    }
    return sorted((int(store.run_git("log", "-1", "--format=%ct", fork).text), fork) for fork in found if fork)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo")
    parser.add_argument("--least", type=int, default=60)
    parser.add_argument("--issues", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    ranks: list[int] = []
    seconds = 0.0
    with open_repository(options.repo, print) as opened:
        tip = branches.find_main(opened.source, None)
        forks = find_forks(opened, tip)
        with open_index(opened.source, opened.picker.store, tip, print) as index:
            asked = list_queries(opened, options.issues) if options.issues else list_pairs(opened, tip)
            for fixes, at, clues in asked:
                candidates = list_candidates(opened, forks, tip, fixes[0], at)
                started = time.perf_counter()
                parts = ALL_PARTS if options.issues else HIDDEN
                ranked = rank_fixes(index, clues, candidates, parts=parts, top=len(candidates), least=0)
                seconds += time.perf_counter() - started
                ranks.append(next((at for at, fix in enumerate(ranked, 1) if fix.sha in fixes), len(candidates)))
                if options.verbose:
                    best = ranked[0].shared if ranked else ""
                    print(ranks[-1], "of", len(candidates), fixes[0][:10], index.read_subject(fixes[0])[:90], best)
    for top in (1, 3, 5, 10):
        share = sum(rank <= top for rank in ranks) / max(len(ranks), 1)
        print(f"top {top}: {sum(rank <= top for rank in ranks)} of {len(ranks)} ({share:.0%})")
    print(f"{seconds / max(len(ranks), 1):.3f} s a search")
    sys.exit(not options.issues and len(ranks) < options.least)


if __name__ == "__main__":
    main()
