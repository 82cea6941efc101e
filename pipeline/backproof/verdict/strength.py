"""How strong a proof is, in words: how many wrong versions of the fix it is red on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backproof.core.plural import is_or_are

if TYPE_CHECKING:
    from backproof.records.mutation import MutationRecord, TriedMutant

_WHOLE_HUNKS = {
    "revert": "the change that begins here is taken back",
    "in-part": "the change that begins here holds only under `{after}`",
}


def describe_strength(record: MutationRecord) -> str:
    """Return one sentence with every mutant in it: those that nothing could be told of are never among the caught."""
    caught = len(record.caught)
    counted = {
        "declared equivalent": len(record.equivalent),
        "ran into a time limit": len(record.list_with("timeout")),
        "could not be told": len(record.list_with("error")),
        "not tried": len(record.list_with("not-tried")),
    }
    versions = "wrong version" if len(record.mutants) == 1 else "wrong versions"
    said = f"{caught} of {len(record.mutants)} {versions} of this fix {is_or_are(caught)} caught"
    return ", ".join([said, *(f"{number} {what}" for what, number in counted.items() if number)])


def name_mutant(mutant: TriedMutant) -> str:
    """Return where a wrong version differs from the fix, and how."""
    form = _WHOLE_HUNKS.get(mutant.operator, "`{before}` is `{after}`")
    return f"{mutant.path}:{mutant.line}: {form.format(before=mutant.before, after=mutant.after)}"
