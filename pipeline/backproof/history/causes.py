"""The commits that make a pick conflict: they wrote the lines that the fix rests on and the release lacks.

Blame of the base side of each conflict names them; where both sides had the lines, blame of the release's side names
the release's own commit; a log of the path is the weaker fallback, and marked as weak.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.log import blame_lines, diff_blobs
from backproof.history import conflict_hunks
from backproof.records.picks import ConflictKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backproof.adapters.git import CommitInfo
    from backproof.history.conflict_hunks import ConflictHunk
    from backproof.history.conflicts import Conflict
    from backproof.history.divergence import Divergence
    from backproof.history.picks import PickResult

    Side = Literal["main", "release"]
    Span = tuple[int, int]

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


@dataclass(kw_only=True, slots=True)
class _Tally:
    lines: Counter[tuple[str, str]] = field(default_factory=Counter)
    how: dict[str, tuple[Side, str, bool]] = field(default_factory=dict)
    totals: Counter[str] = field(default_factory=Counter)

    def add_lines(self, sha: str, path: str, count: int, side: Side, how: str, *, weak: bool = False) -> None:
        self.lines[sha, path] += count
        earlier = self.how.get(sha)
        if earlier is None or (earlier[2] and not weak):
            self.how[sha] = (side, how, weak)


@dataclass(frozen=True, kw_only=True, slots=True)
class Causes:
    """All causes, best first, and the number of conflicting lines per file."""

    ranked: tuple[Cause, ...]
    totals: dict[str, int]


def find_causes(divergence: Divergence, pick: PickResult) -> Causes:
    """Return the causes of the real conflicts of a pick onto the release's tree."""
    tally = _Tally()
    for conflict in pick.real_conflicts:
        before = set(tally.how)
        if conflict.kind in {ConflictKind.CONTENT, ConflictKind.ADD_ADD} and pick.marked:
            _find_by_lines(divergence, tally, conflict, pick)
        elif conflict.kind in {ConflictKind.DELETED_BY_FIX, ConflictKind.DELETED_BY_BRANCH}:
            _find_by_existence(divergence, tally, conflict)
        if set(tally.how) == before and not any(path == conflict.path for _, path in tally.lines):
            _find_by_path(divergence, tally, conflict)
    return Causes(ranked=_rank_causes(divergence, tally), totals=dict(tally.totals))


def _find_by_lines(divergence: Divergence, tally: _Tally, conflict: Conflict, pick: PickResult) -> None:
    """Find who on main wrote the lines that the hunks rest on."""
    text = divergence.picker.objects.read_file(str(pick.marked), conflict.path)
    hunks = conflict_hunks.parse_hunks(text, *pick.labels) if text else []
    spans = _locate_in_base(divergence, conflict, hunks)
    path = _find_path_in(divergence, divergence.parent, conflict, 1)
    writers = _read_writers(divergence, divergence.parent, path, spans, without=divergence.release)
    unexplained: list[ConflictHunk] = []
    for hunk, span in zip(hunks, spans, strict=True):
        tally.totals[conflict.path] += _count_lines(hunk, span)
        lines = [writers[line] for line in range(span[0], span[1] + 1) if line in writers] if span else []
        how = "wrote the lines" if hunk.base else "stands next to the lines"
        for sha, count in Counter(lines).items():
            tally.add_lines(sha, conflict.path, count, "main", f"{how} that the fix changes")
        if not lines:
            unexplained.append(hunk)
    if unexplained:
        _find_by_release_lines(divergence, tally, conflict, unexplained)


def _locate_in_base(divergence: Divergence, conflict: Conflict, hunks: Sequence[ConflictHunk]) -> list[Span | None]:
    base, theirs = (_read_stage(divergence, conflict, stage) for stage in (1, 3))
    inserts = base and any(not hunk.base for hunk in hunks)
    blobs = [conflict.stages[stage].oid for stage in (1, 3)] if inserts else []
    differences = diff_blobs(divergence.store, *blobs) if blobs else []
    return conflict_hunks.locate_hunks(hunks, base, theirs, differences)


def _count_lines(hunk: ConflictHunk, span: Span | None) -> int:
    return len(hunk.base) or (span[1] - span[0] + 1 if span else max(1, len(hunk.ours)))


def _read_writers(
    divergence: Divergence, rev: str | None, path: str | None, spans: Iterable[Span | None], *, without: str | None
) -> dict[int, str]:
    ranges = [span for span in spans if span]
    if path is None or rev is None or without is None or not ranges:
        return {}
    return blame_lines(divergence.store, rev, path, ranges, without=without)


def _find_by_release_lines(
    divergence: Divergence, tally: _Tally, conflict: Conflict, hunks: list[ConflictHunk]
) -> None:
    """Find who on the release changed or removed lines that both sides had."""
    path = _find_path_in(divergence, divergence.release, conflict, 2)
    spans = conflict_hunks.locate_blocks([hunk.ours for hunk in hunks], _read_stage(divergence, conflict, 2))
    writers = _read_writers(divergence, divergence.release, path, spans, without=divergence.parent)
    for sha, count in Counter(writers.values()).items():
        tally.add_lines(sha, conflict.path, count, "release", "changed these lines on the release branch")
    removed: list[list[bytes]] = []
    for hunk, span in zip(hunks, spans, strict=True):
        lines = [line for line in hunk.base if line.strip() and line not in hunk.ours]
        if lines and not (span and any(line in writers for line in range(span[0], span[1] + 1))):
            removed.append(lines)
    for lines in removed[:_SEARCHES] if path is not None else ():
        longest = max(lines, key=len).decode("utf-8", "surrogateescape")
        for commit in divergence.read_release_log([str(path)], f"-S{longest}", "-1"):
            how = "removed these lines on the release branch"
            tally.add_lines(commit.sha, conflict.path, len(lines), "release", how)


def _find_by_existence(divergence: Divergence, tally: _Tally, conflict: Conflict) -> None:
    """Find who added or deleted the file that one side lacks."""
    tally.totals[conflict.path] += 1
    if 3 in conflict.stages:
        path = _find_path_in(divergence, divergence.parent, conflict, 1) or conflict.path
        for commit in divergence.read_main_log([path], "--diff-filter=A", "--no-renames", "-1"):
            tally.add_lines(commit.sha, conflict.path, 1, "main", "added the file, which the release does not have")
            return
        for commit in divergence.read_release_log([path], "--diff-filter=D", "--no-renames", "-1"):
            tally.add_lines(commit.sha, conflict.path, 1, "release", "deleted the file on the release branch")
        return
    for commit in divergence.read_release_log([conflict.path])[:_FALLBACK]:
        tally.add_lines(commit.sha, conflict.path, 1, "release", "changed the file that the fix deletes")
    for commit in divergence.read_main_log([conflict.path])[:_FALLBACK]:
        tally.add_lines(commit.sha, conflict.path, 1, "main", "changed the file before the fix deleted it")


def _find_by_path(divergence: Divergence, tally: _Tally, conflict: Conflict) -> None:
    paths = sorted({conflict.path, _find_path_in(divergence, divergence.parent, conflict, 1) or conflict.path})
    tally.totals[conflict.path] = max(1, tally.totals[conflict.path])
    for commit in divergence.read_main_log(paths)[:_FALLBACK]:
        tally.add_lines(commit.sha, conflict.path, 0, "main", "changed the same file on main", weak=True)
    for commit in divergence.read_release_log(paths)[:_FALLBACK]:
        tally.add_lines(
            commit.sha, conflict.path, 0, "release", "changed the same file on the release branch", weak=True
        )


def _read_stage(divergence: Divergence, conflict: Conflict, stage: int) -> bytes:
    entry = conflict.stages.get(stage)
    return divergence.picker.objects.read_object(entry.oid, "blob") if entry else b""


def _find_path_in(divergence: Divergence, rev: str | None, conflict: Conflict, stage: int) -> str | None:
    """Return the name that one side has for a path in conflict: the other side may have renamed it."""
    entry = conflict.stages.get(stage)
    if rev is None:
        return None
    tree = divergence.picker.read_tree(rev)
    here = divergence.picker.objects.find_entry(tree, conflict.path)
    if here is not None and (entry is None or here.oid == entry.oid):
        return conflict.path
    change = divergence.picker.read_change(divergence.fix)
    pairs = divergence.picker.diff_trees(change.before, change.after).items()
    names = (path for path, (old, _) in pairs if entry and old and old.oid == entry.oid)
    return next(names, conflict.path if here is not None else None)


def _rank_causes(divergence: Divergence, tally: _Tally) -> tuple[Cause, ...]:
    commits = divergence.read_commits(sorted(tally.how))
    causes: dict[str, Cause] = {}
    for sha, (side, how, weak) in tally.how.items():
        lines = {path: count for (writer, path), count in tally.lines.items() if writer == sha}
        cause = Cause(commit=commits[sha], side=side, how=how, lines=lines, weak=weak)
        cause = _replace_by_landed(divergence, cause)
        earlier = causes.get(cause.commit.sha)
        causes[cause.commit.sha] = _join_causes(earlier, cause) if earlier else cause
    return tuple(sorted(causes.values(), key=lambda writer: (writer.weak, -writer.weight, writer.side == "release")))


def _replace_by_landed(divergence: Divergence, cause: Cause) -> Cause:
    """Name the release's own form of a commit that it took: that one is then its side of the conflict, and not missing."""
    match = divergence.find_equivalent(cause.commit) if cause.side == "main" else None
    if match is None:
        return cause
    commit = divergence.read_commits([match.commit])[match.commit]
    how = f"brought {cause.commit.sha[:12]} to the release in another form"
    return Cause(commit=commit, side="release", how=how, lines=cause.lines, weak=cause.weak)


def _join_causes(first: Cause, second: Cause) -> Cause:
    lines = Counter(first.lines) + Counter(second.lines)
    better = first if not first.weak else second
    return Cause(
        commit=first.commit, side=first.side, how=better.how, lines=dict(lines), weak=first.weak and second.weak
    )
