"""Proves one backport from what the user named: a fix on main, or a backport that stands on the branch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.adapters.git import Source, Store
from backproof.core.errors import PlanError
from backproof.history.branches import find_main
from backproof.proving.lanes import Lanes
from backproof.proving.prove import Proving, prove_subject
from backproof.proving.subject import pick_commits, read_landed
from backproof.recipes.cache import prepare_environment
from backproof.recipes.release import read_release
from backproof.rundir.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from backproof.proving.subject import LaidOut
    from backproof.records.proving import ProofRecord
    from backproof.rundir.context import Say

_PULL = re.compile(r"(?:[\w.-]+/[\w.-]+)?#(\d{1,9})", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProveRequest:
    """What the user gave. `what`: commits, a range, or a pull request."""

    what: tuple[str, ...]
    branch: str
    repo: str
    out: Path
    landed: bool = False


def prove_backport(request: ProveRequest, say: Say) -> ProofRecord:
    """Prove one backport; the record and its evidence are in the folder `out`.

    Raises:
        PlanError: nothing is there by that name, or the recipe is invalid.
        NeedsReview: the fix does not land.
        HostError: the environment cannot be made.
    """
    pull = next((int(match[1]) for name in request.what if (match := _PULL.fullmatch(name))), None)
    source = Source.open(request.repo, pull=pull)
    ledger = Ledger(request.out)
    with ledger.hold_lock():
        store = Store.create(ledger.store, source)
        commits = _resolve_commits(store, source, request, pull)
        base = _find_base(store, source, request, commits)
        release = read_release(store, source, request.branch, base)
        environment = prepare_environment(release, say)
        lanes = Lanes(recipe=environment.recipe)
        proving = Proving(
            what=" ".join(request.what),
            store=store,
            subject=_read_subject(store, request, commits, base, lanes),
            lanes=lanes,
            environment=environment,
            ledger=ledger,
            say=say,
            facts={"repo": source.name, "branch": request.branch, "base": base},
        )
        return prove_subject(proving)


def _resolve_commits(store: Store, source: Source, request: ProveRequest, pull: int | None) -> tuple[str, ...]:
    """Return the commits that are meant, oldest first."""
    commits: list[str] = []
    for name in request.what:
        before, dots, after = name.partition("..")
        if dots:
            commits += store.list_commits(_require_commit(store, before), _require_commit(store, after.lstrip(".")))
        elif pull and _PULL.fullmatch(name):
            commits += _list_pull(store, source, request, pull)
        else:
            commits.append(_require_commit(store, name))
    if not commits:
        raise PlanError(
            f"{' '.join(request.what)}: no commit", why="the range is empty", next_step="name a commit, or a range A..B"
        )
    return tuple(commits)


def _require_commit(store: Store, name: str) -> str:
    if sha := store.resolve_commit(name):
        return sha
    raise PlanError(
        f"{name}: there is no such commit",
        why="the repository does not have it, or the short name is ambiguous",
        next_step="fetch it there, or name it in full",
    )


def _list_pull(store: Store, source: Source, request: ProveRequest, pull: int) -> tuple[str, ...]:
    head = source.find_pull_head(pull)
    if head is None:
        raise PlanError(
            f"#{pull}: the repository has no refs/pull/{pull}/head",
            why="it was not fetched",
            next_step=f"git fetch origin refs/pull/{pull}/head:refs/pull/{pull}/head, or name commits",
        )
    return store.list_commits(request.branch if request.landed else find_main(source, None), head)


def _find_base(store: Store, source: Source, request: ProveRequest, commits: tuple[str, ...]) -> str:
    """Return the release without the fix: the tip of the branch, or the parent of what landed."""
    if not request.landed:
        return source.resolve_branch(request.branch)
    parents = store.objects.read_commit(commits[0]).parents
    if len(commits) != 1 or not parents:
        raise PlanError(
            "--landed is for one commit",
            why=f"{len(commits)} commits are named, and each has a release of its own before it",
            next_step="name the commit on the branch, or leave --landed out",
        )
    return parents[0]


def _read_subject(store: Store, request: ProveRequest, commits: tuple[str, ...], base: str, lanes: Lanes) -> LaidOut:
    return read_landed(store, commits[0], lanes) if request.landed else pick_commits(store, commits, base, lanes)
