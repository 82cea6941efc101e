"""The commits that make a pick conflict: they wrote the lines that the fix rests on and the release lacks.

Blame of the base side of each conflict names them; where both sides had the lines, blame of the release's side names
the release's own commit; a log of the path is the weaker fallback, and marked as weak.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.log import blame_lines
from backproof.history.conflict_hunks import ConflictHunk, find_hunks
from backproof.records.picks import ConflictKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.conflicts import Conflict
    from backproof.history.divergence import Divergence
    from backproof.history.picks import PickResult

    Side = Literal["main", "release"]

_FALLBACK = 3
"""How many commits of a path's log are taken where no line names one."""
_SEARCHES = 4
"""How many lines per file are searched for who removed them: each search walks the path's history."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """A commit that explains conflicts, with the lines it explains in each file."""

    commit: CommitInfo
    side: Side
    how: str
    lines: dict[str, int]
    weak: bool = False

    @property
    def weight(self) -> int:
        return sum(self.lines.values())


@dataclass(frozen=True, kw_only=True, slots=True)
class _Clue:
    """What one conflict says of one commit. A clue of no lines is a weak one."""

    sha: str
    lines: int
    side: Side
    how: str
    path: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Causes:
    """All causes, best first, and the number of conflicting lines per file."""

    ranked: tuple[Cause, ...]
    totals: dict[str, int]


def find_causes(divergence: Divergence, pick: PickResult) -> Causes:
    """Return the causes of the real conflicts of a pick onto the release's tree."""
    clues: list[_Clue] = []
    totals: dict[str, int] = {}
    for conflict in pick.real_conflicts:
        named: list[_Clue] = []
        total = 1
        if conflict.kind in {ConflictKind.CONTENT, ConflictKind.ADD_ADD}:
            named, total = _find_by_lines(divergence, conflict)
        elif conflict.kind in {ConflictKind.DELETED_BY_FIX, ConflictKind.DELETED_BY_BRANCH}:
            named = list(_find_by_existence(divergence, conflict))
        clues += [replace(clue, path=conflict.path) for clue in named or _find_by_path(divergence, conflict)]
        totals[conflict.path] = max(1, total)
    return Causes(ranked=_rank_causes(divergence, clues), totals=totals)


def _find_by_lines(divergence: Divergence, conflict: Conflict) -> tuple[list[_Clue], int]:
    """Find who on main wrote the lines that the hunks rest on; return the number of these lines, too."""
    hunks = find_hunks(divergence.picker, conflict)
    count = _read_stage(divergence, conflict, 1).count(b"\n") + 1 if 1 in conflict.stages else 0
    spans = [hunk.widen_base(count) for hunk in hunks]
    path = find_path_in(divergence, divergence.parent, conflict, 1)
    writers = _read_writers(divergence, divergence.parent, path, spans, without=divergence.release)
    clues: list[_Clue] = []
    unexplained: list[ConflictHunk] = []
    for hunk, span in zip(hunks, spans, strict=True):
        lines = Counter(writers[line] for line in range(*span) if line in writers)
        how = f"{'wrote the lines' if hunk.base else 'stands next to the lines'} that the fix changes"
        clues += [_Clue(sha=sha, lines=number, side="main", how=how) for sha, number in lines.items()]
        if not lines:
            unexplained.append(hunk)
    clues += _find_by_release_lines(divergence, conflict, unexplained)
    return clues, sum(end - start or max(1, len(hunk.ours)) for hunk, (start, end) in zip(hunks, spans, strict=True))


def _read_writers(
    divergence: Divergence, rev: str | None, path: str | None, spans: Iterable[tuple[int, int]], *, without: str | None
) -> dict[int, str]:
    """Return who wrote each line, counted from 0."""
    ranges = [(start + 1, end) for start, end in spans if start < end]
    if path is None or rev is None or without is None or not ranges:
        return {}
    writers = blame_lines(divergence.store, rev, path, ranges, without=without)
    return {line - 1: sha for line, sha in writers.items()}


def _find_by_release_lines(
    divergence: Divergence, conflict: Conflict, hunks: Sequence[ConflictHunk]
) -> Iterator[_Clue]:
    """Find who on the release changed or removed lines that both sides had."""
    path = find_path_in(divergence, divergence.release, conflict, 2)
    spans = [hunk.ours_span for hunk in hunks]
    writers = _read_writers(divergence, divergence.release, path, spans, without=divergence.parent)
    for sha, count in Counter(writers.values()).items():
        yield _Clue(sha=sha, lines=count, side="release", how="changed these lines on the release branch")
    if path is None:
        return
    unnamed = [hunk for hunk in hunks if writers.keys().isdisjoint(range(*hunk.ours_span))]
    removed = ([line for line in hunk.base if line.strip() and line not in hunk.ours] for hunk in unnamed)
    for lines in [lines for lines in removed if lines][:_SEARCHES]:
        longest = max(lines, key=len).decode("utf-8", "surrogateescape")
        for commit in divergence.read_release_log([path], f"-S{longest}", "-1"):
            how = "removed these lines on the release branch"
            yield _Clue(sha=commit.sha, lines=len(lines), side="release", how=how)


def _find_by_existence(divergence: Divergence, conflict: Conflict) -> Iterator[_Clue]:
    """Find who added or deleted the file that one side lacks."""
    if 3 not in conflict.stages:
        for commit in divergence.read_release_log([conflict.path])[:_FALLBACK]:
            yield _Clue(sha=commit.sha, lines=1, side="release", how="changed the file that the fix deletes")
        for commit in divergence.read_main_log([conflict.path])[:_FALLBACK]:
            yield _Clue(sha=commit.sha, lines=1, side="main", how="changed the file before the fix deleted it")
        return
    path = find_path_in(divergence, divergence.parent, conflict, 1) or conflict.path
    for commit in divergence.read_main_log([path], "--diff-filter=A", "--no-renames", "-1"):
        yield _Clue(sha=commit.sha, lines=1, side="main", how="added the file, which the release does not have")
        return
    for commit in divergence.read_release_log([path], "--diff-filter=D", "--no-renames", "-1"):
        yield _Clue(sha=commit.sha, lines=1, side="release", how="deleted the file on the release branch")


def _find_by_path(divergence: Divergence, conflict: Conflict) -> Iterator[_Clue]:
    paths = sorted({conflict.path, find_path_in(divergence, divergence.parent, conflict, 1) or conflict.path})
    for commit in divergence.read_main_log(paths)[:_FALLBACK]:
        yield _Clue(sha=commit.sha, lines=0, side="main", how="changed the same file on main")
    for commit in divergence.read_release_log(paths)[:_FALLBACK]:
        yield _Clue(sha=commit.sha, lines=0, side="release", how="changed the same file on the release branch")


def _read_stage(divergence: Divergence, conflict: Conflict, stage: int) -> bytes:
    entry = conflict.stages.get(stage)
    return divergence.picker.objects.read_object(entry.oid, "blob") if entry else b""


def find_path_in(divergence: Divergence, rev: str | None, conflict: Conflict, stage: int) -> str | None:
    """Return the name that one side has for a path in conflict: the other side may have renamed it."""
    entry = conflict.stages.get(stage)
    if rev is None:
        return None
    tree = divergence.picker.read_tree(rev)
    here = divergence.picker.objects.find_entry(tree, conflict.path)
    if here is not None and (entry is None or here.oid == entry.oid):
        return conflict.path
    change = divergence.picker.read_change(divergence.fix)
    pairs = divergence.picker.objects.diff_trees(change.before, change.after).items()
    names = (path for path, (old, _) in pairs if entry and old and old.oid == entry.oid)
    return next(names, conflict.path if here is not None else None)


def _rank_causes(divergence: Divergence, clues: Sequence[_Clue]) -> tuple[Cause, ...]:
    commits = {clue.sha: divergence.picker.objects.read_commit(clue.sha) for clue in clues}
    landed = divergence.find_landings(sorted({clue.sha for clue in clues if clue.side == "main"}))
    named: defaultdict[str, list[_Clue]] = defaultdict(list)
    for clue in clues:
        # The release's own form of a commit that it took is its side of the conflict, and nothing is missing.
        if match := landed.get(clue.sha):
            how = f"brought {clue.sha[:12]} to the release in another form"
            named[match.commit.sha].append(replace(clue, side="release", how=how))
            commits[match.commit.sha] = match.commit
        else:
            named[clue.sha].append(clue)
    causes = [_join_clues(commits[sha], group) for sha, group in named.items()]
    return tuple(sorted(causes, key=lambda cause: (cause.weak, -cause.weight, cause.side == "release")))


def _join_clues(commit: CommitInfo, clues: Sequence[_Clue]) -> Cause:
    lines: Counter[str] = Counter()
    for clue in clues:
        lines[clue.path] += clue.lines
    best = max(clues, key=lambda clue: clue.lines > 0)
    return Cause(commit=commit, side=best.side, how=best.how, lines=dict(lines), weak=not best.lines)
