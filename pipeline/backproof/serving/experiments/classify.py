"""Does a setting decide (a switch: another code path), or does it only push (gradual: resources, timing)? Pure numbers.

A switch: one side never fails, the other does, and chance does not explain it. Gradual: both can fail and one fails
more, or the load itself is varied. Fewer than four runs a side can never tell: 3 of 3 against 0 of 3 is p = 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final, Literal

from backproof.verdict import fisher

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal["switch", "gradual", "no-effect", "undecided"]
ALPHA: Final = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """The runs of one side."""

    label: str
    failed: int = 0
    ran: int = 0

    @property
    def text(self) -> str:
        return f"{self.label} failed {self.failed} of {self.ran}"

    def add_runs(self, failed: int, ran: int) -> Tally:
        return Tally(label=self.label, failed=self.failed + failed, ran=self.ran + ran)


@dataclass(frozen=True, kw_only=True, slots=True)
class Classification:
    """The kind of effect that the numbers show."""

    kind: Kind
    p: float
    sentence: str


def classify_effect(left: Tally, right: Tally, *, load: bool = False) -> Classification:
    """Classify the difference of two sides. `load`: the load itself is varied, which is no setting that switches a path."""
    p = fisher.compute_exact_p(left.failed, left.ran, right.failed, right.ran)
    kind, reason = _find_kind(left, right, p, load=load)
    return Classification(kind=kind, p=p, sentence=f"{reason}: {left.text}, {right.text}; Fisher's exact p = {p:.3g}")


def _find_kind(left: Tally, right: Tally, p: float, *, load: bool) -> tuple[Kind, str]:
    if p <= ALPHA:
        return _name_effect(left, right, load=load)
    least = fisher.least(left.ran, right.ran)
    if least > ALPHA:
        return "undecided", f"so few runs cannot tell (at best p = {least:.3g})"
    if left.failed == right.failed == 0:
        return "no-effect", "neither side fails: not reproduced"
    if (left.failed, right.failed) == (left.ran, right.ran):
        return "no-effect", "both sides always fail: the setting does not decide"
    return "undecided", "chance explains the difference"


def _name_effect(left: Tally, right: Tally, *, load: bool) -> tuple[Kind, str]:
    if load:
        return "gradual", "it grows with the load"
    if left.failed and right.failed:
        return "gradual", "the setting only shifts how often it fails"
    return "switch", f"the setting decides: {right.label if left.failed else left.label} never fails"


def is_settled(left: Tally, right: Tally, remaining: tuple[int, int], *, load: bool = False) -> bool:
    """Tell whether the remaining runs, however they end, cannot change the kind."""
    return len({classify_effect(a, b, load=load).kind for a, b in _possible_ends(left, right, remaining)}) == 1


def _possible_ends(left: Tally, right: Tally, remaining: tuple[int, int]) -> Iterator[tuple[Tally, Tally]]:
    for first, second in product(range(remaining[0] + 1), range(remaining[1] + 1)):
        yield left.add_runs(first, remaining[0]), right.add_runs(second, remaining[1])
