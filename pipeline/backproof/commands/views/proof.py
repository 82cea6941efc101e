"""How a proof looks in a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from backproof.commands.output import print_line
from backproof.core.plural import format_count
from backproof.report.proofs import describe_release_tests

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.records.proving import ProofRecord

_SHOWN = 10


def name_folder(what: Sequence[str], branch: str) -> Path:
    """Return the folder of a proof where none was named: the same question goes to the same place."""
    name = re.sub(r"[^\w.-]+", "-", f"{branch}-{'-'.join(what)}")[:100]
    return Path("runs") / f"prove-{name}"


def print_proof(record: ProofRecord) -> None:
    print_line(f"{record.outcome}: {record.title} on {record.branch}")
    if record.proofs:
        more = f"; {len(record.guards)} others unchanged" if record.guards else ""
        count = format_count(len(record.proofs), "test")
        verbs = ("fails", "passes") if len(record.proofs) == 1 else ("fail", "pass")
        print_line(f"{count} of the fix {verbs[0]} without it and {verbs[1]} with it, twice each{more}")
    if record.reason:
        print_line(record.reason)
    for red in record.changed[:_SHOWN]:
        mark = "" if red.counts else f" ({red.red}{'' if red.touched else ', a test that the fix did not touch'})"
        print_line(f"  {red.test}{mark}")
        print_line(f"    without it: {red.line}")
    for red in record.worse[:_SHOWN]:
        print_line(f"  worse: {red.test}: {red.line}")
    for note in (*record.errors, *record.flaky)[:_SHOWN]:
        print_line(f"  says nothing: {note.test}: {note.line}")
    for path, why in record.not_run.items():
        print_line(f"  not run: {path}: {why}")
    if shown := record.release_tests:
        print_line(describe_release_tests(shown))
    for place in record.unreached[:_SHOWN]:
        print_line(f"  no test that ran executes {place}")
    if record.next_step:
        print_line(f"next: {record.next_step}")


def print_table(proofs: Sequence[ProofRecord]) -> None:
    """Print one line a backport."""
    for record in proofs:
        by = f" ({record.red})" if record.red else ""
        affected = f", affected: {record.affected}" if not record.landed else ""
        print_line(f"{record.what[:12]:12}  {record.branch}: {record.outcome}{by}{affected}  {record.title[:80]}")
        if record.reason:
            print_line(f"{'':12}  {record.reason[:200]}")
