"""Proves all backports that landed on a branch since a tag, and all of them together, with one table."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.app.prove import prove_backport
from backproof.core.errors import BackproofError
from backproof.history.branches import match_branches
from backproof.proving.prove import FILE
from backproof.proving.resolve import resolve_commits
from backproof.records.proving import ProofRecord
from backproof.report.proofs import render_proofs
from backproof.rundir.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.app.prove import ProveRequest
    from backproof.rundir.context import Say

_MEMORY = 4 << 30
"""Bytes that one proof may take: both arms of vLLM together take about 4 GB."""


def prove_since(asked: ProveRequest, since: str, say: Say, *, jobs: int | None = None) -> tuple[ProofRecord, ...]:
    """Prove each commit of the branch since another, then all of them as one; a proof that is there already is not made again.

    Args:
        asked: the branch, the repository, the folder.
        since: a commit or a tag of the branch.
        say: where progress goes.
        jobs: proofs at a time; None for what fits.

    Returns:
        One record a backport, oldest first; the last is of all together.
    """
    source = Source.open(asked.repo)
    ledger = Ledger(asked.out)
    tip = source.resolve_branch(asked.branch)
    store = Store.create(ledger.store, source)
    commits = resolve_commits(store, source, (f"{since}..{tip}",), None)
    questions = [*commits, f"{since}..{tip}"]
    say(f"{len(commits)} commits on {asked.branch} since {since}")
    with ThreadPoolExecutor(max_workers=jobs or count_jobs()) as pool:
        proofs = tuple(pool.map(lambda what: _prove_once(asked, what, say), questions))
    _write_table(ledger, proofs, f"{asked.branch} since {since}")
    return proofs


def _write_table(ledger: Ledger, proofs: Sequence[ProofRecord], title: str) -> None:
    for name, text in render_proofs(proofs, title=title).items():
        ledger.write_text(name, text)


def prove_branches(asked: ProveRequest, globs: Sequence[str], say: Say) -> tuple[ProofRecord, ...]:
    """Ask of each branch whether it has the fault, by running the fix's tests there, and prove the fix on it where it lands.

    Returns:
        One record a branch, by name.
    """
    branches = match_branches(Source.open(asked.repo), globs)
    proofs = []
    for branch in branches:
        folder = asked.out / re.sub(r"[^\w.-]+", "-", branch)
        proofs.append(_prove_safely(replace(asked, branch=branch, out=folder, may_conflict=True), say))
    _write_table(Ledger(asked.out), proofs, " ".join(asked.what))
    return tuple(proofs)


def count_jobs() -> int:
    """Return how many proofs fit: as many as there are pairs of cores, and as memory that is free holds."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) << 10
    return max(1, min(len(os.sched_getaffinity(0)) // 2, free // _MEMORY))


def _prove_once(asked: ProveRequest, what: str, say: Say) -> ProofRecord:
    folder = asked.out / ("together" if ".." in what else what[:12])
    kept = Ledger(folder).read_record(FILE, ProofRecord)
    if kept and kept.what == what and kept.outcome != "error":
        say(f"{folder.name}: {kept.outcome} (there already)")
        return kept
    return _prove_safely(replace(asked, what=(what,), out=folder, landed=True), say)


def _prove_safely(asked: ProveRequest, say: Say) -> ProofRecord:
    """Prove one of many: what stops it is its own result, and the others go on."""
    name = asked.out.name
    try:
        proof = prove_backport(asked, lambda line: say(f"{name}: {line.strip()}"))
    except BackproofError as error:
        proof = ProofRecord.model_validate(
            {
                "what": " ".join(asked.what),
                "branch": asked.branch,
                "outcome": "error",
                "reason": f"{error.what}: {error.why}"[:1000],
            }
        )
    say(f"{name}: {proof.outcome}{f': {proof.reason}' if proof.reason else ''}")
    return proof
