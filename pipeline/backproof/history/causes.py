"""Finds the commits that make a pick conflict: who wrote the lines that the fix rests on and the release lacks.

Blame of the base side of each conflict names them; where both sides had the lines, blame of the release's side names
the release's own commit; a log of the path is the weaker fallback, and said to be.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.log import blame, hunks
from backproof.history import conflict_hunks
from backproof.records.picks import ConflictKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.adapters.git import CommitInfo
    from backproof.history.conflict_hunks import Region
    from backproof.history.conflicts import Clash
    from backproof.history.divergence import Ground
    from backproof.history.picks import Simulation

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

    def add(self, sha: str, path: str, count: int, side: Side, how: str, *, weak: bool = False) -> None:
        self.lines[sha, path] += count
        known = self.how.get(sha)
        if known is None or (known[2] and not weak):
            self.how[sha] = (side, how, weak)


@dataclass(frozen=True, kw_only=True, slots=True)
class Causes:
    """All causes, best first, and the number of conflicting lines per file."""

    ranked: tuple[Cause, ...]
    totals: dict[str, int]


def find(ground: Ground, simulation: Simulation) -> Causes:
    """The causes of the real conflicts of a simulated pick onto the release's tree."""
    tally = _Tally()
    for clash in simulation.real:
        before = set(tally.how)
        if clash.kind in {ConflictKind.CONTENT, ConflictKind.ADD_ADD} and simulation.marked:
            _by_lines(ground, tally, clash, simulation)
        elif clash.kind in {ConflictKind.DELETED_BY_FIX, ConflictKind.DELETED_BY_BRANCH}:
            _by_existence(ground, tally, clash)
        if set(tally.how) == before and not any(path == clash.path for _, path in tally.lines):
            _by_path(ground, tally, clash)
    return Causes(ranked=_ranked(ground, tally), totals=dict(tally.totals))


def _by_lines(ground: Ground, tally: _Tally, clash: Clash, simulation: Simulation) -> None:
    text = ground.simulator.objects.file(str(simulation.marked), clash.path)
    found = conflict_hunks.parse(text, *simulation.labels) if text else []
    base_path = _path_in(ground, ground.parent, clash, 1)
    base, theirs = (_blob(ground, clash, stage) for stage in (1, 3))
    needs_place = [each for each in found if not each.base]
    differences = hunks(ground.store, clash.stages[1].oid, clash.stages[3].oid) if needs_place and base else []
    spans = conflict_hunks.around(found, base, theirs, differences)
    for region, span in zip(found, spans, strict=True):
        tally.totals[clash.path] += _length(region, span)
    writers = _writers(ground, base_path, spans)
    open_regions: list[Region] = []
    for region, span in zip(found, spans, strict=True):
        lines = [writers[line] for line in range(span[0], span[1] + 1) if line in writers] if span else []
        for sha, count in Counter(lines).items():
            weak = not region.base
            how = "stands next to the lines" if weak else "wrote the lines"
            tally.add(sha, clash.path, count, "main", f"{how} that the fix changes")
        if not lines:
            open_regions.append(region)
    if open_regions:
        _by_release_lines(ground, tally, clash, open_regions)


def _length(region: Region, span: Span | None) -> int:
    return len(region.base) or (span[1] - span[0] + 1 if span else max(1, len(region.ours)))


def _writers(ground: Ground, path: str | None, spans: Iterable[Span | None]) -> dict[int, str]:
    wanted = [each for each in spans if each]
    if path is None or ground.parent is None or not wanted:
        return {}
    return blame(ground.store, ground.parent, path, wanted, known=ground.release)


def _by_release_lines(ground: Ground, tally: _Tally, clash: Clash, found: list[Region]) -> None:
    """Lines that both sides had: the release's own commit changed or removed them."""
    path = _path_in(ground, ground.release, clash, 2)
    spans = conflict_hunks.place([each.ours for each in found], _blob(ground, clash, 2))
    wanted = [each for each in spans if each]
    writers: dict[int, str] = {}
    if path is not None and wanted and ground.parent:
        writers = blame(ground.store, ground.release, path, wanted, known=ground.parent)
    for sha, count in Counter(writers.values()).items():
        tally.add(sha, clash.path, count, "release", "changed these lines on the release branch")
    searched = 0
    for region, span in zip(found, spans, strict=True):
        covered = span and any(line in writers for line in range(span[0], span[1] + 1))
        gone = [line for line in region.base if line.strip() and line not in region.ours]
        if covered or not gone or path is None or searched >= _SEARCHES:
            continue
        searched += 1
        longest = max(gone, key=len).decode("utf-8", "surrogateescape")
        for each in ground.release_log([path], f"-S{longest}", "-1"):
            tally.add(each.sha, clash.path, len(gone), "release", "removed these lines on the release branch")


def _by_existence(ground: Ground, tally: _Tally, clash: Clash) -> None:
    """One side lacks the file: who added it, or who deleted it."""
    tally.totals[clash.path] += 1
    if 3 in clash.stages:
        path = _path_in(ground, ground.parent, clash, 1) or clash.path
        for each in ground.main_log([path], "--diff-filter=A", "--no-renames", "-1"):
            tally.add(each.sha, clash.path, 1, "main", "added the file, which the release does not have")
            return
        for each in ground.release_log([path], "--diff-filter=D", "--no-renames", "-1"):
            tally.add(each.sha, clash.path, 1, "release", "deleted the file on the release branch")
        return
    for each in ground.release_log([clash.path])[:_FALLBACK]:
        tally.add(each.sha, clash.path, 1, "release", "changed the file that the fix deletes")
    for each in ground.main_log([clash.path])[:_FALLBACK]:
        tally.add(each.sha, clash.path, 1, "main", "changed the file before the fix deleted it")


def _by_path(ground: Ground, tally: _Tally, clash: Clash) -> None:
    paths = sorted({clash.path, *(each for each in (_path_in(ground, ground.parent, clash, 1),) if each)})
    tally.totals[clash.path] = max(1, tally.totals[clash.path])
    for each in ground.main_log(paths)[:_FALLBACK]:
        tally.add(each.sha, clash.path, 0, "main", "changed the same file on main", weak=True)
    for each in ground.release_log(paths)[:_FALLBACK]:
        tally.add(each.sha, clash.path, 0, "release", "changed the same file on the release branch", weak=True)


def _blob(ground: Ground, clash: Clash, stage: int) -> bytes:
    entry = clash.stages.get(stage)
    return ground.simulator.objects.read(entry.oid, "blob") if entry else b""


def _path_in(ground: Ground, rev: str | None, clash: Clash, stage: int) -> str | None:
    """The name that one side has for a path in conflict: the other side may have renamed it."""
    entry = clash.stages.get(stage)
    if rev is None:
        return None
    tree = ground.simulator.tree(rev)
    here = ground.simulator.objects.entry(tree, clash.path)
    if here is not None and (entry is None or here.oid == entry.oid):
        return clash.path
    change = ground.simulator.change(ground.fix)
    pairs = ground.simulator.differing(change.before, change.after).items()
    found = (path for path, (old, _) in pairs if entry and old and old.oid == entry.oid)
    return next(found, clash.path if here is not None else None)


def _ranked(ground: Ground, tally: _Tally) -> tuple[Cause, ...]:
    infos = ground.commits(sorted(tally.how))
    causes: dict[str, Cause] = {}
    for sha, (side, how, weak) in tally.how.items():
        lines = {path: count for (each, path), count in tally.lines.items() if each == sha}
        cause = Cause(commit=infos[sha], side=side, how=how, lines=lines, weak=weak)
        cause = _as_landed(ground, cause)
        known = causes.get(cause.commit.sha)
        causes[cause.commit.sha] = _joined(known, cause) if known else cause
    return tuple(sorted(causes.values(), key=lambda each: (each.weak, -each.weight, each.side == "release")))


def _as_landed(ground: Ground, cause: Cause) -> Cause:
    """A commit that the release took in another form is not missing: that form is the release's side of the conflict."""
    match = ground.landed_as(cause.commit) if cause.side == "main" else None
    if match is None:
        return cause
    commit = ground.commits([match.commit])[match.commit]
    how = f"brought {cause.commit.sha[:12]} to the release in another form"
    return Cause(commit=commit, side="release", how=how, lines=cause.lines, weak=cause.weak)


def _joined(one: Cause, other: Cause) -> Cause:
    lines = Counter(one.lines) + Counter(other.lines)
    better = one if not one.weak else other
    return Cause(commit=one.commit, side=one.side, how=better.how, lines=dict(lines), weak=one.weak and other.weak)
