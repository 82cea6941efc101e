"""Proves one backport from what the user named: a fix on main, or a backport that stands on the branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.core.errors import PlanError
from backproof.proving.lanes import Lanes
from backproof.proving.prove import RECIPE, Proving, prove_subject
from backproof.proving.resolve import find_original, read_pull_number, resolve_commits
from backproof.proving.subject import pick_commits, read_landed
from backproof.recipes.cache import prepare_environment
from backproof.recipes.find import format_recipe
from backproof.recipes.release import read_release
from backproof.report.proofs import render_proof
from backproof.rundir.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.proving.subject import LaidOut
    from backproof.records.proving import ProofRecord
    from backproof.rundir.context import Say

COMMENT = "comment.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProveRequest:
    """What the user gave. `what`: commits, a range, or a pull request."""

    what: tuple[str, ...]
    branch: str
    repo: str
    out: Path
    landed: bool = False
    guards: bool = False
    may_conflict: bool = False
    """Where the fix does not land, still ask whether the release has the fault."""


def prove_backport(request: ProveRequest, say: Say) -> ProofRecord:
    """Prove one backport; the record and its evidence are in the folder `out`.

    Raises:
        PlanError: nothing is there by that name, or the recipe is invalid.
        NeedsReview: the fix does not land.
        HostError: the environment cannot be made.
    """
    source = Source.open(request.repo, pull=read_pull_number(request.what))
    ledger = Ledger(request.out)
    with ledger.hold_lock():
        store = Store.create(ledger.store, source)
        commits = resolve_commits(store, source, request.what, request.branch if request.landed else None)
        base = _find_base(store, source, request, commits)
        release = read_release(store, source, request.branch, base)
        environment = prepare_environment(release, say)
        ledger.write_text(RECIPE, format_recipe(environment.recipe))
        lanes = Lanes(recipe=environment.recipe)
        proving = Proving(
            what=" ".join(request.what),
            store=store,
            subject=_read_subject(store, source, request, commits, lanes),
            lanes=lanes,
            environment=environment,
            ledger=ledger,
            say=say,
            guards=request.guards,
            facts={"repo": source.name, "branch": request.branch, "base": base},
        )
        proof = prove_subject(proving)
        ledger.write_text(COMMENT, render_proof(proof))
        return proof


def _find_base(store: Store, source: Source, request: ProveRequest, commits: tuple[str, ...]) -> str:
    """Return the release without the fix: the tip of the branch, or the parent of what landed."""
    if not request.landed:
        return source.resolve_branch(request.branch)
    parents = store.objects.read_commit(commits[0]).parents
    if not parents:
        raise PlanError(f"{commits[0][:12]} has no parent", why="it is the first commit", next_step="name a later one")
    return parents[0]


def _read_subject(
    store: Store, source: Source, request: ProveRequest, commits: tuple[str, ...], lanes: Lanes
) -> LaidOut:
    if not request.landed:
        return pick_commits(
            store, commits, source.resolve_branch(request.branch), lanes, may_conflict=request.may_conflict
        )
    original = find_original(store, source, commits[0]) if len(commits) == 1 else None
    return read_landed(store, commits, lanes, original=original)
