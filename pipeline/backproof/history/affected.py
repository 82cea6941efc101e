"""The faulty code on a branch: the commit that a fix says it repairs, else the lines that the fix takes away.

That a line or a file is not there under its name proves nothing: the code may be formatted otherwise, or elsewhere. So "no"
is only said where the branch has the fix, or lacks the commit that brought the fault.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.objects import LINK_MODE
from backproof.core.plural import format_count
from backproof.history.path_filter import is_secondary
from backproof.history.picks import is_landing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backproof.adapters.git import Entry
    from backproof.history.landings import Landings
    from backproof.history.picks import Change, Drop, Picker, PickResult

    Answer = Literal["yes", "partly", "no", "unknown"]
    Lines = Counter[bytes]

_TELLING = 6
"""A shorter line (`else:`, `)`) stands in every file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultyLines:
    """The telling lines that a fix takes away, and what each file was; `causes` are the commits whose fault it says it repairs."""

    files: dict[str, Lines]
    blobs: dict[str, str]
    causes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        return sum(lines.total() for lines in self.files.values())


def read_faulty_lines(picker: Picker, change: Change, drop: Drop, causes: Iterable[str] = ()) -> FaultyLines:
    """Return the faulty code as a fix shows it; documentation, tests and CI count only where there is nothing else."""
    pairs = {
        path: pair for path, pair in picker.objects.diff_trees(change.before, change.after).items() if not drop(path)
    }
    product = {path: pair for path, pair in pairs.items() if not is_secondary(path)} or pairs
    files = {path: _count_lines(picker, old) - _count_lines(picker, new) for path, (old, new) in product.items() if old}
    blobs = {path: old.oid for path, (old, _) in product.items() if old}
    return FaultyLines(files=files, blobs=blobs, causes=tuple(causes))


def judge_cause(landings: Landings, faulty: FaultyLines, tip: str) -> tuple[Answer, str] | None:
    """Return the answer where the fix names what it repairs; None where it names nothing that is known."""
    for sha in faulty.causes:
        if landing := landings.find(sha, tip, deep=True):
            return "yes", f"it has {sha[:12]}, which the fix repairs, by {landing.how}"
    names = ", ".join(sha[:12] for sha in faulty.causes)
    return ("no", f"it does not have {names}, which the fix repairs") if names else None


def judge_lines(picker: Picker, faulty: FaultyLines, onto: str, pick: PickResult) -> tuple[Answer, str]:
    """Return the answer for a tree, and the reason."""
    if faulty.total == 0:
        where = "the place where it adds them is there"
        return (
            ("yes", f"the fix only adds lines, and {where}")
            if is_landing(pick)
            else ("unknown", "the fix only adds lines")
        )
    entries = {path: _find_file(picker, faulty, path, onto, pick) for path in faulty.files}
    if not any(entries.values()):
        return "unknown", f"the branch does not have {', '.join(sorted(entries)[:3])} under this name"
    present = sum(_count_present(picker, faulty.files[path], entry) for path, entry in entries.items())
    why = f"it has {present} of the {format_count(faulty.total, 'line')} that the fix takes away"
    if present == 0:
        return "unknown", f"{why}: it may have them in another form"
    return ("yes" if present * 2 >= faulty.total else "partly"), why


def _find_file(picker: Picker, faulty: FaultyLines, path: str, onto: str, pick: PickResult) -> Entry | None:
    """Return a file where the merge found it: under its name, or under the one that the branch has for it."""
    entry = picker.objects.find_entry(onto, path)
    if entry is None:
        bases = {stages[1].oid: stages.get(2) for conflict in pick.conflicts if 1 in (stages := conflict.stages)}
        entry = bases.get(faulty.blobs[path])
    if entry is None and pick.tree:
        # What the pick changes, and the fix has not under that name, is a file that the branch renamed.
        pairs = picker.objects.diff_trees(onto, pick.tree).items()
        moved = {name: old for name, (old, new) in pairs if old and new and name not in faulty.files}
        same = [old for name, old in moved.items() if name.rsplit("/", 1)[-1] == path.rsplit("/", 1)[-1]]
        entry = next(iter(same or moved.values()), None) if len(same or moved) == 1 else None
    return entry


def _count_present(picker: Picker, lines: Lines, entry: Entry | None) -> int:
    """Count the lines that a file still has."""
    text = _read_text(picker, entry)
    return sum(min(count, text.count(b"\n" + line + b"\n")) for line, count in lines.items())


def _count_lines(picker: Picker, entry: Entry | None) -> Lines:
    return Counter(line for line in _read_text(picker, entry).split(b"\n") if len(line) >= _TELLING)


def _read_text(picker: Picker, entry: Entry | None) -> bytes:
    """Return a file without what a formatter changes in a line: space and the kind of quotes."""
    if entry is None or entry.mode == LINK_MODE:
        return b""
    text = picker.objects.read_object(entry.oid, "blob").replace(b"'", b'"').translate(None, b" \t\r\f\v")
    # Equal lines that follow each other must not share a line end.
    return b"\n" + text.replace(b"\n", b"\n\n") + b"\n"
