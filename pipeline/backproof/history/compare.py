"""Whether a landed backport is the same as its original: the pick is simulated again and the trees are compared.

A difference that nothing declares is a mismatch, as in the kernel backports of NVIDIA: a person may adapt a backport,
and must say where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.adapters.git.log import range_diff
from backproof.core.errors import HostError
from backproof.history.api_compat import suspect_calls
from backproof.history.picks import Change, Simulation, keep_all
from backproof.history.records import CompareRecord
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backproof.history.picks import Drop, Simulator

    Verdict = Literal["identical", "identical-after-declared", "adapted", "mismatch"]
    Amend = Callable[[str], str]

_ADAPTED = re.compile(r"(?m)^(?:Backproof-)?Adapted: (\S+)")
"""A trailer of the backport's message that names a path which a person adapted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backport:
    """What landed: from the commit before it to its last commit."""

    base: str
    head: str

    @classmethod
    def parse(cls, simulator: Simulator, text: str, resolve: Callable[[str], str]) -> Backport:
        """A commit, or a range `base..head`; `resolve` gives the full hash of a name.

        Raises:
            HostError: there is no commit before it to compare with.
        """
        first, dots, last = text.partition("..")
        head = resolve(last if dots else first)
        if dots:
            return cls(base=resolve(first), head=head)
        parents = simulator.objects.commit(head).parents
        if not parents or head in simulator.store.boundary():
            raise HostError(
                f"{text}: the commit before it is not in the repository",
                why="it is a root commit, or the clone is shallow",
                next_step="complete the clone with `git fetch --unshallow` and run again",
            )
        return cls(base=parents[0], head=head)


def compare(
    simulator: Simulator,
    backport: Backport,
    originals: Sequence[str],
    *,
    drop: Drop = keep_all,
    adapted: Drop = keep_all,
    amend: Amend | None = None,
) -> CompareRecord:
    """Pick the originals onto what was there before the backport, and compare.

    Args:
        simulator: of the store that holds both.
        backport: what landed.
        originals: full hashes, in order.
        drop: paths that the backport is declared to leave out.
        adapted: paths that are declared to differ.
        amend: what the declared fix-ups make of the picked tree.
    """
    base, head = simulator.tree(backport.base), simulator.tree(backport.head)
    steps = simulator.pick_series(originals, base, drop=drop)
    last = steps[-1]
    if last.landing in {PickOutcome.UNKNOWN, PickOutcome.MERGE_COMMIT}:
        raise HostError(
            f"{originals[len(steps) - 1][:12]}: its pick cannot be simulated",
            why=last.why or "it is a merge commit",
            next_step="complete the clone, or name the commits that the merge brought",
        )
    expected = last.tree or simulator.restored(str(last.marked), base, last.dropped)
    expected = amend(expected) if amend and last.tree else expected
    differing = simulator.differing(expected, head)
    said = _declared_in(simulator, backport)
    declared = tuple(path for path in differing if drop(path) or adapted(path) or path in said)
    undeclared = tuple(path for path in differing if path not in declared)
    by_person = any(not drop(path) for path in declared)
    left_out = bool(declared or amend or any(each.dropped for each in steps))
    verdict = _verdict(undeclared=undeclared, by_person=by_person, left_out=left_out)
    return CompareRecord(
        backport=backport.head,
        originals=tuple(originals),
        verdict=verdict,
        sentence=_sentence(verdict, last, undeclared, declared),
        simulated=last.landing,
        undeclared=undeclared,
        declared=declared,
        suspects=suspect_calls(simulator, _whole(simulator, originals), base, head, drop=drop),
        range_diff=_beside(simulator, originals, backport) if differing else "",
    )


def _whole(simulator: Simulator, originals: Sequence[str]) -> Change:
    first, last = simulator.change(originals[0]), simulator.change(originals[-1])
    return Change(before=first.before, after=last.after)


def _beside(simulator: Simulator, originals: Sequence[str], backport: Backport) -> str:
    """The originals and what landed beside each other, for people."""
    landed = f"{backport.base}..{backport.head}"
    whole = [sha for sha in originals if simulator.objects.commit(sha).parents]
    return "\n".join(range_diff(simulator.store, f"{sha}^..{sha}", landed).rstrip() for sha in whole)


def _declared_in(simulator: Simulator, backport: Backport) -> frozenset[str]:
    shas = [backport.head, *simulator.store.commits_between(backport.base, backport.head)]
    return frozenset(path for sha in shas for path in _ADAPTED.findall(simulator.store.commit(sha).message))


def _verdict(*, undeclared: Sequence[str], by_person: bool, left_out: bool) -> Verdict:
    if undeclared:
        return "mismatch"
    if by_person:
        return "adapted"
    return "identical-after-declared" if left_out else "identical"


def _sentence(verdict: Verdict, last: Simulation, undeclared: Sequence[str], declared: Sequence[str]) -> str:
    conflicts = ", ".join(each.path for each in last.real)
    resolved = f"; the pick conflicts there: {conflicts}" if conflicts else ""
    return {
        "identical": "the backport has the tree that a pick of the original gives",
        "identical-after-declared": "the backport has the tree that a pick gives with the declared drops and fix-ups",
        "adapted": f"the backport differs where it is declared to: {', '.join(declared[:8])}{resolved}",
        "mismatch": f"MISMATCH: nothing declares the difference in {', '.join(undeclared[:8])}{resolved}",
    }[verdict]
