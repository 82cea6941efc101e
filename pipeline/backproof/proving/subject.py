"""What is to be proved, as trees: the release with the fix's tests laid over it, and the same with the fix."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backproof.core.errors import NeedsReview
from backproof.history.picks import Picker
from backproof.history.relations import Relations
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from backproof.adapters.git import Entry, Store
    from backproof.history.picks import PickResult
    from backproof.proving.lanes import Lanes


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut:
    """One backport. `release` is the tree without it; `base` and `fixed` both have the fix's tests."""

    commit: str
    commits: tuple[str, ...]
    title: str
    landed: bool
    release: str
    base: str
    fixed: str
    code: tuple[str, ...]
    """Paths of code that the fix changes."""
    tests: tuple[str, ...]
    """Paths of the lane of tests that the fix changes and does not delete."""
    others: tuple[str, ...]
    """Paths that are neither."""
    stopped: str = ""
    """Why there is no arm with the fix; then `fixed` is `base`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sides:
    """Both trees before tests are laid over them, and the test files to lay (None: the fix deletes it)."""

    release: str
    after: str
    laid: Mapping[str, Entry | None]


def read_landed(store: Store, shas: Sequence[str], lanes: Lanes, *, original: str | None = None) -> LaidOut:
    """Return the backport that commits of the branch are: the parent of the first is the release without it.

    Files of tests that the `original` has and the backport left out are laid over both arms, too.
    """
    with Picker(store, mainline=1) as picker:
        before = picker.read_change(shas[0]).before
        after = picker.read_tree(shas[-1])
        changes = picker.objects.diff_trees(before, after)
        laid = {path: entry for path, (_, entry) in changes.items() if lanes.is_test(path)}
        if original:
            dropped = _lay_tests(picker, (original,), before, lanes)
            laid |= {
                path: entry
                for path, entry in dropped.items()
                if path not in laid and _is_file_of_tests(picker, lanes, path, entry)
            }
        arms = Sides(release=before, after=after, laid=laid)
        return _make_subject(picker, lanes, tuple(shas), arms, landed=True)


def _is_file_of_tests(picker: Picker, lanes: Lanes, path: str, entry: Entry | None) -> bool:
    return entry is not None and lanes.has_tests(path, picker.objects.read_object(entry.oid, "blob"))


def pick_commits(store: Store, shas: Sequence[str], onto: str, lanes: Lanes, *, may_conflict: bool = False) -> LaidOut:
    """Pick the fix onto the release. A file of tests that conflicts is taken whole from the fix, and is no conflict.

    Raises:
        NeedsReview: code conflicts, and it may not.
    """
    release = store.objects.read_commit(onto).tree
    with Picker(store, mainline=1) as picker:
        picks = picker.pick_series(shas, release, drop=lanes.is_test)
        stopped = _explain_stopped(picks[-1], release)
        if picks[-1].tree is None and not may_conflict:
            raise NeedsReview(
                f"{shas[len(picks) - 1][:12]}: {stopped}",
                why="a fix that does not land cannot be proved",
                next_step="`backproof history explain` says why; resolve it on a branch, and prove that with --landed",
            )
        after = release if stopped else picks[-1].tree or release
        arms = Sides(release=release, after=after, laid=_lay_tests(picker, shas, release, lanes))
        return replace(_make_subject(picker, lanes, tuple(shas), arms, landed=False), stopped=stopped)


def _explain_stopped(last: PickResult, release: str) -> str:
    """Return why a pick makes no other arm; empty where it does."""
    if last.outcome is PickOutcome.CONFLICT:
        listed = "; ".join(f"{conflict.path} ({conflict.kind})" for conflict in last.real_conflicts)
        return f"it conflicts in code: {listed}"
    if last.tree is None:
        return f"it cannot be picked: {last.why or last.outcome}"
    return "the branch has it already: the pick changes nothing" if last.tree == release else ""


def _lay_tests(picker: Picker, shas: Sequence[str], release: str, lanes: Lanes) -> dict[str, Entry | None]:
    """Return the fix's test files as they are to be: merged with the release's where that is clean, else the fix's own."""
    laid: dict[str, Entry | None] = {}
    merged = release
    for sha in shas:
        change = picker.read_change(sha)
        result = picker.pick_all([(change, merged)])[0]
        conflicting = {conflict.path for conflict in result.conflicts}
        for path, (_, after) in picker.objects.diff_trees(change.before, change.after).items():
            if lanes.is_test(path):
                clean = result.marked is not None and path not in conflicting
                laid[path] = picker.objects.find_entry(result.marked or "", path) if clean else after
        merged = picker.objects.edit_tree(merged, laid)
    return laid


def _make_subject(picker: Picker, lanes: Lanes, commits: tuple[str, ...], arms: Sides, *, landed: bool) -> LaidOut:
    laid = arms.laid
    base, fixed = (picker.objects.edit_tree(tree, laid) if laid else tree for tree in (arms.release, arms.after))
    changed = sorted(picker.objects.diff_trees(base, fixed))
    return LaidOut(
        commit=commits[-1],
        commits=commits,
        title=Relations(picker.objects.read_commit(commits[-1])).title,
        landed=landed,
        release=arms.release,
        base=base,
        fixed=fixed,
        code=tuple(path for path in changed if lanes.is_code(path)),
        tests=tuple(path for path, entry in sorted(laid.items()) if entry is not None),
        others=tuple(path for path in changed if not lanes.is_code(path)),
    )
