"""The answers about history in a terminal: a table or sentences."""

from __future__ import annotations

from textwrap import indent
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


def print_survey(record: SurveyRecord) -> None:
    out = open_console()
    for sha, subject in record.commits.items():
        table = Table(title=Text(escape_line(f"{sha[:12]} {subject}")), title_justify="left")
        for heading in ("branch", "outcome", "affected", "what to know"):
            table.add_column(heading, overflow="fold")
        for row in record.rows:
            if row.commit == sha:
                remarks = "\n".join(map(escape_line, _list_remarks(row)))
                cells = (escape_line(row.branch), _format_outcome(row), row.affected, remarks)
                table.add_row(*map(Text, cells))
        out.print(table)
    for limit in record.limits:
        say(f"note: {limit}")
    say(f"{len(record.rows)} picks tried or known in {record.seconds:.2f} s")


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
    yield from row.notes
    yield from (f"suspect: {suspect}" for suspect in row.suspects[:4])
    if row.dropped:
        yield f"without {', '.join(row.dropped[:4])}"
    yield from _list_follow_ups(row.lacks, "lacks")


def _list_follow_ups(follow_ups: Sequence[FollowUp], word: str) -> Iterator[str]:
    yield from (f"{word} {item.kind}: {item.commit[:12]} {item.subject}" for item in follow_ups[:4])
    if len(follow_ups) > 4:
        yield f"{word} {len(follow_ups) - 4} more"


def print_explanation(record: ExplainRecord) -> None:
    print_line(f"{record.fix[:12]} {record.subject}")
    print_line(record.sentence)
    for cause in record.causes:
        print_line(f"  {cause.commit[:12]} {cause.subject}")
        print_line(f"    {cause.sentence}")
    for place in record.sides:
        print_line(f"  {place.path}:{place.line}: the branch has")
        print_text(indent(place.branch, "    | "))
        print_line("  and the fix")
        print_text(indent(place.fix, "    | "))
    if record.more:
        print_line(f"  and {record.more} more (--json)")
    for note in (*record.notes, *(f"suspect: {suspect}" for suspect in record.suspects)):
        print_line(note)
    for limit in record.limits:
        say(f"note: {limit}")
    for line in _list_follow_ups(record.follow_ups, "later on main:"):
        print_line(line)
    if record.commands:
        print_line("to go on:")
        for command in record.commands:
            # The lines of a patch in a command start where they start, and are whole.
            print_text(command) if "\n" in command else print_line(f"  {command}")


def print_comparison(record: CompareRecord) -> None:
    print_line(f"{record.verdict}: {record.sentence}")
    for suspect in record.suspects:
        print_line(f"  suspect: {suspect}")
    for limit in record.limits:
        say(f"note: {limit}")
    if record.range_diff:
        print_text(record.range_diff)


def print_cancelling(record: CancellingRecord) -> None:
    print_line(record.sentence)
    for sha, subject in record.commits.items():
        print_line(f"  {'needed' if sha in record.needed else 'not   '} {sha[:12]} {subject}")
