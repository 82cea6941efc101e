"""The changes of main that the lines in conflict rest on, hunk by hunk: the fewest newest ones with which the fix lands.

The lines are followed from the fix's parent back through what the release lacks: a hunk that touches them is one that the fix
rests on, and they go on as what it replaced. Only what a trial has shown is returned.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof.adapters.git import Entry
from backproof.adapters.git.log import read_hunks
from backproof.core.errors import HostError
from backproof.history.causes import Cause, find_path_in
from backproof.history.conflict_hunks import find_hunks
from backproof.history.picks import Change, PickResult, is_landing
from backproof.history.try_causes import Trial, TrialVerdict
from backproof.records.picks import ConflictKind, PickOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.adapters.git.log import FileHunks
    from backproof.history.conflicts import Conflict
    from backproof.history.divergence import Divergence
    from backproof.history.picks import Drop

    Span = tuple[int, int]

_SIZES = (1, 2, 4, 8, 16, 32, 64)
"""How many of the newest hunks of a file are tried; more are no way on that a person would take."""
_TEXTS = frozenset({ConflictKind.CONTENT, ConflictKind.ADD_ADD})


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """One hunk of a commit, as a change of its own."""

    sha: str
    path: str
    change: Change


@dataclass(kw_only=True, slots=True)
class _Chain:
    """Pieces of one file, laid one on the other as far as they land; with what the file is after each."""

    path: str
    pieces: Sequence[_Piece]
    tree: str
    taken: list[tuple[str, Entry | None]]


def find_missing_hunks(divergence: Divergence, pick: PickResult, onto: str, *, drop: Drop) -> tuple[Trial, ...]:
    """Return one trial for each commit of which hunks are taken, in order; none where they do not make the fix land."""
    pieces = _list_pieces(divergence, pick.real_conflicts)
    if not all(pieces.values()):
        return ()  # lines that rest on nothing which the release lacks: its own changes stand there
    chains = [
        _Chain(path=path, pieces=rows[-size:], tree=onto, taken=[])
        for path, rows in pieces.items()
        for size in _SIZES
        if size < 2 * len(rows)
    ]
    _lay_chains(divergence, chains, drop)
    fix = divergence.picker.read_change(divergence.fix)
    results = divergence.picker.pick_all([(fix, chain.tree) for chain in chains], drop=drop)
    solved: dict[str, _Chain] = {}
    for chain, result in zip(chains, results, strict=True):
        left = {conflict.path for conflict in result.real_conflicts}
        if chain.taken and chain.path not in left and result.outcome is not PickOutcome.UNKNOWN:
            solved.setdefault(chain.path, chain)
    if len(solved) < len(pick.real_conflicts):
        return ()
    trials = tuple(_make_trials(divergence, list(solved.values()), onto))
    last = trials[-1].change.after
    return trials if is_landing(divergence.picker.pick(divergence.fix, last, drop=drop)) else ()


def _lay_chains(divergence: Divergence, chains: Sequence[_Chain], drop: Drop) -> None:
    """Lay the pieces of all chains, one of each at a time, all in one process."""
    objects = divergence.picker.objects
    for step in range(max((len(chain.pieces) for chain in chains), default=0)):
        live = [chain for chain in chains if step < len(chain.pieces)]
        results = divergence.picker.pick_all([(chain.pieces[step].change, chain.tree) for chain in live], drop=drop)
        for chain, result in zip(live, results, strict=True):
            if result.tree not in {None, chain.tree}:
                chain.tree = str(result.tree)
                chain.taken.append((chain.pieces[step].sha, objects.find_entry(chain.tree, chain.path)))


def _make_trials(divergence: Divergence, chains: Sequence[_Chain], onto: str) -> Iterator[Trial]:
    """Yield what each commit brings, from one tree to the next."""
    entries: defaultdict[str, dict[str, Entry | None]] = defaultdict(dict)
    for chain in chains:
        for sha, entry in chain.taken:
            entries[sha][chain.path] = entry
    tree = onto
    for sha in divergence.sort_oldest_first(entries):
        change = Change(before=tree, after=divergence.picker.objects.edit_tree(tree, entries[sha]))
        tree = change.after
        cause = Cause(
            commit=divergence.picker.objects.read_commit(sha),
            side="main",
            how="changed the lines that the fix rests on",
            lines=dict.fromkeys(entries[sha], 0),
        )
        landed = PickResult(outcome=PickOutcome.CLEAN, tree=tree)
        yield Trial(cause=cause, way=TrialVerdict.SOME_HUNKS, change=change, landed=landed)


def _list_pieces(divergence: Divergence, conflicts: Sequence[Conflict]) -> dict[str, list[_Piece]]:
    """Return the hunks that the lines in conflict rest on, oldest first, for each path in conflict."""
    names = {
        conflict.path: find_path_in(divergence, divergence.parent, conflict, 1) or conflict.path
        for conflict in conflicts
    }
    hunks = read_hunks(divergence.store, *divergence.missing_range, paths=set(names.values()))
    pieces: dict[str, list[_Piece]] = {}
    for conflict in conflicts:
        path = names[conflict.path]
        newest = hunks[path]
        if conflict.kind in _TEXTS:
            spans = [hunk.base_span for hunk in find_hunks(divergence.picker, conflict)]
            newest = list(_follow_lines(spans, newest))
        parts = [piece for change in newest for piece in reversed(list(_split_change(divergence, change, path)))]
        pieces[conflict.path] = [replace(piece, path=conflict.path) for piece in parts[: _SIZES[-1]]][::-1]
    return pieces


def _follow_lines(spans: Sequence[Span], newest: Sequence[FileHunks]) -> Iterator[FileHunks]:
    """Yield the hunks that touch the lines, or those next to them, as far as they can be followed."""
    for change in newest:
        touching = [hunk for hunk in change.hunks if any(_touch(hunk[1], span) for span in spans)]
        if touching or not change.hunks:
            yield replace(change, hunks=tuple(touching))
        spans = [_map_back(span, change.hunks) for span in spans]


def _touch(first: Span, second: Span) -> bool:
    return first[0] <= second[1] + 1 and second[0] <= first[1] + 1


def _map_back(span: Span, hunks: Sequence[tuple[Span, Span]]) -> Span:
    """Return where lines were before some hunks, with all that those which touch them replaced."""
    start, end = span
    before = [hunk for hunk in hunks if hunk[1][1] < start - 1]
    touching = [hunk for hunk in hunks if _touch(hunk[1], span)]
    moved = sum((old[1] - old[0]) - (new[1] - new[0]) for old, new in before)
    grown = sum((old[1] - old[0]) - (new[1] - new[0]) for old, new in touching)
    first = min([start, *(new[0] for _, new in touching)]) + moved
    last = max([end, *(new[1] for _, new in touching)]) + moved + grown
    return first, max(first, last)


def _split_change(divergence: Divergence, change: FileHunks, path: str) -> Iterator[_Piece]:
    """Yield each hunk alone; the whole change of a file that comes or goes, or that has no lines."""
    objects = divergence.picker.objects
    try:
        whole = divergence.picker.read_change(change.sha)
        old, new = (objects.find_entry(tree, path) for tree in (whole.before, whole.after))
    except (HostError, ValueError):
        return
    if old is None or new is None or not change.hunks:
        yield _Piece(
            sha=change.sha,
            path=path,
            change=Change(before=whole.before, after=objects.edit_tree(whole.before, {path: new})),
        )
        return
    before, after = (objects.read_object(entry.oid, "blob").split(b"\n") for entry in (old, new))
    for (start, end), (first, last) in change.hunks:
        text = b"\n".join([*before[:start], *after[first:last], *before[end:]])
        entry = Entry(mode=old.mode, oid=objects.write_object("blob", text))
        yield _Piece(
            sha=change.sha,
            path=path,
            change=Change(before=whole.before, after=objects.edit_tree(whole.before, {path: entry})),
        )
