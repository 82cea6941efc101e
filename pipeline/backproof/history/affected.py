"""The faulty code on a branch: the lines that the fix takes away."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.objects import LINK_MODE
from backproof.core.plural import format_count
from backproof.history.path_filter import is_secondary
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from backproof.history.picks import Change, Drop, Picker, PickResult

    Answer = Literal["yes", "partly", "no", "unknown"]

_TELLING = 6
"""A shorter line (`else:`, `)`) stands in every file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FaultyLines:
    """The telling lines that a fix takes away, by file."""

    files: dict[str, Counter[bytes]]
    added: int

    @property
    def total(self) -> int:
        return sum(sum(lines.values()) for lines in self.files.values())


def read_faulty_lines(picker: Picker, change: Change, drop: Drop) -> FaultyLines:
    """Return the faulty code as a fix shows it; documentation, tests and CI count only where there is nothing else."""
    pairs = {path: pair for path, pair in picker.diff_trees(change.before, change.after).items() if not drop(path)}
    product = {path: pair for path, pair in pairs.items() if not is_secondary(path)} or pairs
    files: dict[str, Counter[bytes]] = {}
    for path, (old, new) in product.items():
        if old is None or old.mode == LINK_MODE:
            continue
        before = _count_lines(picker.objects.read_object(old.oid, "blob"))
        after = (
            _count_lines(picker.objects.read_object(new.oid, "blob")) if new and new.mode != LINK_MODE else Counter()
        )
        files[path] = before - after
    return FaultyLines(files=files, added=len(product) - len(files))


def judge_affected(picker: Picker, faulty: FaultyLines, onto: str, pick: PickResult) -> tuple[Answer, str]:
    """Return the answer for a tree, and the reason."""
    texts = {path: picker.objects.read_file(onto, path) for path in faulty.files}
    absent = sorted(path for path, text in texts.items() if text is None)
    if faulty.files and len(absent) == len(faulty.files):
        return "no", f"the branch does not have {', '.join(absent[:3])}"
    total = faulty.total
    if total == 0:
        return _judge_by_outcome(pick)
    present = sum(
        sum((removed & _count_lines(text)).values())
        for path, removed in faulty.files.items()
        if (text := texts[path]) is not None
    )
    why = f"it has {present} of the {format_count(total, 'line')} that the fix takes away"
    if present == 0:
        return "no", why
    return ("yes" if present * 2 >= total else "partly"), why


def _judge_by_outcome(pick: PickResult) -> tuple[Answer, str]:
    if pick.outcome in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS}:
        return "yes", "the fix only adds lines, and the place where it adds them is there"
    return "unknown", "the fix only adds lines"


def _count_lines(text: bytes) -> Counter[bytes]:
    return Counter(line for row in text.split(b"\n") if len(line := row.strip()) >= _TELLING)
