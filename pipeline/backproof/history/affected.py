"""Whether a branch has the faulty code at all: the lines that the fix takes away."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.objects import LINK_MODE
from backproof.core.plural import format_count
from backproof.history.path_filter import is_secondary
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from backproof.history.picks import Change, Drop, Simulation, Simulator

    Answer = Literal["yes", "partly", "no", "unknown"]

_TELLING = 6
"""A shorter line (`else:`, `)`) stands in every file."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Faulty:
    """For each file that the fix changes: the telling lines that it takes away."""

    files: dict[str, Counter[bytes]]
    added: int

    @property
    def lines(self) -> int:
        return sum(sum(each.values()) for each in self.files.values())


def faulty(simulator: Simulator, change: Change, drop: Drop) -> Faulty:
    """The faulty code as a fix shows it; documentation, tests and CI count only where there is nothing else."""
    pairs = {path: pair for path, pair in simulator.differing(change.before, change.after).items() if not drop(path)}
    product = {path: pair for path, pair in pairs.items() if not is_secondary(path)} or pairs
    files: dict[str, Counter[bytes]] = {}
    for path, (old, new) in product.items():
        if old is None or old.mode == LINK_MODE:
            continue
        before = _lines(simulator.objects.read(old.oid, "blob"))
        after = _lines(simulator.objects.read(new.oid, "blob")) if new and new.mode != LINK_MODE else Counter()
        files[path] = before - after
    return Faulty(files=files, added=len(product) - len(files))


def affected(simulator: Simulator, wrong: Faulty, onto: str, simulation: Simulation) -> tuple[Answer, str]:
    """Whether a tree has it, and why we think so."""
    texts = {path: simulator.objects.file(onto, path) for path in wrong.files}
    absent = sorted(path for path, text in texts.items() if text is None)
    if wrong.files and len(absent) == len(wrong.files):
        return "no", f"the branch does not have {', '.join(absent[:3])}"
    total = wrong.lines
    if total == 0:
        return _by_landing(simulation)
    held = sum(
        sum((wanted & _lines(text)).values())
        for path, wanted in wrong.files.items()
        if (text := texts[path]) is not None
    )
    why = f"it has {held} of the {format_count(total, 'line')} that the fix takes away"
    if held == 0:
        return "no", why
    return ("yes" if held * 2 >= total else "partly"), why


def _by_landing(simulation: Simulation) -> tuple[Answer, str]:
    if simulation.landing in {PickOutcome.CLEAN, PickOutcome.CLEAN_AFTER_DROPS}:
        return "yes", "the fix only adds lines, and the place where it adds them is there"
    return "unknown", "the fix only adds lines"


def _lines(text: bytes) -> Counter[bytes]:
    return Counter(line for each in text.split(b"\n") if len(line := each.strip()) >= _TELLING)
