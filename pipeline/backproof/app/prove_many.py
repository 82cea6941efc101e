"""Proves all backports that landed on a branch since a tag, and all of them together, with one table."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.app.prove import ProveRequest, prove_backport
from backproof.core.errors import BackproofError
from backproof.proving.prove import FILE
from backproof.proving.resolve import require_commit, resolve_commits
from backproof.records.proving import ProofRecord
from backproof.report.proofs import render_proofs
from backproof.rundir.ledger import Ledger

if TYPE_CHECKING:
    from backproof.rundir.context import Say

_MEMORY = 4 << 30
"""Bytes that one proof may take: both arms of vLLM together take about 4 GB."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ManyRequest:
    """All that landed on `branch` after the commit `since`. `jobs`: how many proofs run at a time; None for what fits."""

    since: str
    branch: str
    repo: str
    out: Path
    jobs: int | None = None


def prove_since(request: ManyRequest, say: Say) -> tuple[ProofRecord, ...]:
    """Prove each backport, then all of them as one; a proof that is there already is not made again.

    Returns:
        One record a backport, oldest first; the last is of all together.
    """
    source = Source.open(request.repo)
    ledger = Ledger(request.out)
    tip = source.resolve_branch(request.branch)
    store = Store.create(ledger.store, source)
    commits = resolve_commits(store, source, (f"{require_commit(store, source, request.since)}..{tip}",), None)
    questions = [(sha,) for sha in commits] + [(f"{request.since}..{tip}",)]
    say(f"{len(commits)} commits on {request.branch} since {request.since}")
    with ThreadPoolExecutor(max_workers=request.jobs or count_jobs()) as pool:
        proofs = tuple(pool.map(lambda what: _prove_one(request, what, say), questions))
    title = f"{request.branch} since {request.since}"
    for name, text in render_proofs(proofs, title=title).items():
        ledger.write_text(name, text)
    return proofs


def count_jobs() -> int:
    """Return how many proofs fit: as many as there are pairs of cores, and as memory that is free holds."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]) << 10
    return max(1, min(len(os.sched_getaffinity(0)) // 2, free // _MEMORY))


def _prove_one(request: ManyRequest, what: tuple[str, ...], say: Say) -> ProofRecord:
    folder = request.out / (what[0][:12] if ".." not in what[0] else "together")
    kept = Ledger(folder).read_record(FILE, ProofRecord)
    if kept and kept.what == " ".join(what) and kept.outcome != "error":
        say(f"{folder.name}: {kept.outcome} (there already)")
        return kept
    asked = ProveRequest(what=what, branch=request.branch, repo=request.repo, out=folder, landed=True)
    try:
        proof = prove_backport(asked, lambda line: say(f"{folder.name}: {line.strip()}"))
    except BackproofError as error:
        proof = ProofRecord.model_validate(
            {
                "what": " ".join(what),
                "branch": request.branch,
                "outcome": "error",
                "reason": f"{error.what}: {error.why}"[:1000],
            }
        )
    say(f"{folder.name}: {proof.outcome}{f': {proof.reason}' if proof.reason else ''}")
    return proof
