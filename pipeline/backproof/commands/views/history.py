"""How the answers about history look: a table, sentences, or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from backproof.commands.output import open_console, print_line, print_text, say
from backproof.core.plain_text import escape_line
from backproof.core.plural import format_count
from backproof.records.picks import PickOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backproof.history.records import (
        CancellingRecord,
        CompareRecord,
        ExplainRecord,
        FollowUp,
        SurveyRecord,
        SurveyRow,
    )


def print_survey(found: SurveyRecord) -> None:
    out = open_console()
    for sha, subject in found.commits.items():
        table = Table(title=Text(escape_line(f"{sha[:12]} {subject}")), title_justify="left")
        for heading in ("branch", "outcome", "affected", "what to know"):
            table.add_column(heading, overflow="fold")
        for row in found.rows:
            if row.commit == sha:
                cells = (row.branch, _format_outcome(row), row.affected, "\n".join(_list_remarks(row)))
                table.add_row(*(Text(escape_line(cell)) for cell in cells))
        out.print(table)
    for limit in found.limits:
        say(f"note: {limit}")
    say(f"{len(found.rows)} picks simulated or known in {found.seconds:.2f} s")


def _format_outcome(row: SurveyRow) -> str:
    if row.outcome is PickOutcome.CONFLICT:
        return f"conflict ({format_count(sum(not conflict.dropped for conflict in row.conflicts), 'file')})"
    return f"{row.outcome} (conflict only there)" if row.only_in_dropped else str(row.outcome)


def _list_remarks(row: SurveyRow) -> Iterator[str]:
    if row.there:
        yield f"has it by {row.there}"
    elif row.why:
        yield row.why
    yield from (f"{conflict.path}: {conflict.kind}" for conflict in row.conflicts[:4] if not conflict.dropped)
    if row.dropped:
        yield f"without {', '.join(row.dropped[:4])}"
    yield from _list_follow_ups(row.lacks, "lacks")


def _list_follow_ups(follow_ups: Sequence[FollowUp], word: str) -> Iterator[str]:
    yield from (f"{word} {item.kind}: {item.commit[:12]} {item.subject}" for item in follow_ups[:4])
    if len(follow_ups) > 4:
        yield f"{word} {len(follow_ups) - 4} more"


def print_explanation(found: ExplainRecord) -> None:
    print_line(f"{found.fix[:12]} {found.subject}")
    print_line(found.sentence)
    for cause in found.causes:
        print_line(f"  {cause.commit[:12]} {cause.subject}")
        print_line(f"    {cause.sentence}")
    if found.more:
        print_line(f"  and {found.more} more (--json)")
    for line in _list_follow_ups(found.follow_ups, "later on main:"):
        print_line(line)
    if found.commands:
        print_line("to go on:")
        for command in found.commands:
            print_line(f"  {command}")


def print_comparison(found: CompareRecord) -> None:
    print_line(f"{found.verdict}: {found.sentence}")
    for suspect in found.suspects:
        print_line(f"  suspect: {suspect}")
    if found.range_diff:
        print_text(found.range_diff)


def print_cancelling(found: CancellingRecord) -> None:
    print_line(found.sentence)
    for sha, subject in found.commits.items():
        print_line(f"  {'needed' if sha in found.needed else 'not   '} {sha[:12]} {subject}")
