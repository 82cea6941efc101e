"""Does a setting decide (a switch: another code path), or does it only push (gradual: resources, timing)? Pure numbers.

A switch: one side never fails, the other does, and chance does not explain it. Gradual: both can fail and one fails
more, or what is varied is the load itself. Fewer than four runs a side can never tell: 3 of 3 against 0 of 3 is p = 0.1.
"""

from __future__ import annotations

from dataclasses import dataclass
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

    def plus(self, failed: int, ran: int) -> Tally:
        return Tally(label=self.label, failed=self.failed + failed, ran=self.ran + ran)


@dataclass(frozen=True, kw_only=True, slots=True)
class Classification:
    """What the numbers say."""

    kind: Kind
    p: float
    sentence: str


def classify(one: Tally, other: Tally, *, load: bool = False) -> Classification:
    """`load` says that the variable is the load itself, which is no setting that could switch a path."""
    p = fisher.exact(one.failed, one.ran, other.failed, other.ran)
    kind, said = _kind(one, other, p, load=load)
    return Classification(kind=kind, p=p, sentence=f"{said}: {one.text}, {other.text}; Fisher's exact p = {p:.3g}")


def _kind(one: Tally, other: Tally, p: float, *, load: bool) -> tuple[Kind, str]:
    if p <= ALPHA:
        return _real(one, other, load=load)
    least = fisher.least(one.ran, other.ran)
    if least > ALPHA:
        return "undecided", f"so few runs cannot tell (at best p = {least:.3g})"
    if one.failed == other.failed == 0:
        return "no-effect", "neither side fails: not reproduced"
    if (one.failed, other.failed) == (one.ran, other.ran):
        return "no-effect", "both sides always fail: the setting does not decide"
    return "undecided", "chance explains the difference"


def _real(one: Tally, other: Tally, *, load: bool) -> tuple[Kind, str]:
    if load:
        return "gradual", "it grows with the load"
    if one.failed and other.failed:
        return "gradual", "the setting only shifts how often it fails"
    return "switch", f"the setting decides: {other.label if one.failed else one.label} never fails"


def settled(one: Tally, other: Tally, left: tuple[int, int], *, load: bool = False) -> bool:
    """Whether the runs that are left, however they end, cannot change the kind."""
    return len({classify(a, b, load=load).kind for a, b in _ends(one, other, left)}) == 1


def _ends(one: Tally, other: Tally, left: tuple[int, int]) -> Iterator[tuple[Tally, Tally]]:
    for first in range(left[0] + 1):
        for second in range(left[1] + 1):
            yield one.plus(first, left[0]), other.plus(second, left[1])
