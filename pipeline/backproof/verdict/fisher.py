"""Fisher's exact test for a two by two table: is a flaky outcome a difference, or chance?

Two-sided as R and scipy have it: the sum over all tables with the same margins that are no likelier than this one.
Checked against scipy.stats.fisher_exact in the tests; a dependency of 100 MB for ten lines would be dear.
"""

from __future__ import annotations

from math import comb
from typing import Final

_EQUAL: Final = 1 + 1e-7
"""Tables of equal probability can differ in the last bit; scipy and R use the same factor."""


def compute_exact_p(failed: int, ran: int, other_failed: int, other_ran: int) -> float:
    """The p-value of "both sides fail equally often"; 1 where a side never ran."""
    total, bad = ran + other_ran, failed + other_failed
    if not ran or not other_ran:
        return 1.0
    low, high = max(0, bad - other_ran), min(bad, ran)
    weights = {k: comb(ran, k) * comb(other_ran, bad - k) for k in range(low, high + 1)}
    here = weights[failed]
    return min(1.0, sum(weight for weight in weights.values() if weight <= here * _EQUAL) / comb(total, bad))


def least(ran: int, other_ran: int) -> float:
    """The smallest p-value that so many runs can give: when all of one side fail and none of the other."""
    return compute_exact_p(ran, ran, 0, other_ran)
