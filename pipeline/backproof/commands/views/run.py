"""How a run looks in a terminal. Text of a run is never markup here, and its control characters do not reach the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from backproof.commands.output import open_console
from backproof.core.model import Arm, Outcome
from backproof.core.plain_text import cut_text, escape_line
from backproof.report.view import EVIDENCE_GONE, arrange_by_arm

if TYPE_CHECKING:
    from backproof.report.run_diff import RunDiff
    from backproof.report.view import JudgedCase, RunView, StageView
    from backproof.rundir.listing import RunList

_COLOURS = {
    Outcome.PASS: "green",
    Outcome.SKIP: "dim",
    Outcome.ABORTED: "magenta",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.RUNNING: "magenta",
    Outcome.ERROR: "magenta",
    Outcome.PERSON: "yellow",
    Outcome.FAIL: "red",
}
_LISTED = 200


def print_run(view: RunView) -> None:
    out, run = open_console(), view.run
    out.print(_make_line(f"{run.title} ({run.kit}) on {run.place}"))
    out.print(Text(escape_line(run.sentence, 2000), style=f"bold {_COLOURS[run.outcome]}"))
    levels = (f"{n} {name} {'reached' if reached else 'not reached'}" for n, (name, reached) in enumerate(view.ladder))
    out.print(_make_line(f"levels: {' · '.join(levels)}"))
    for arm, summary in run.arms.items():
        expected = "" if summary.as_expected else ", NOT expected"
        out.print(_make_line(f"{arm}: {summary.outcome}{expected}: {summary.sentence}"))
    out.print(_list_stages(view))
    if cases := view.judged_cases:
        out.print(_list_cases(cases))
    for path in view.altered:
        out.print(Text(f"missing or altered, and not counted: {escape_line(path)}", style="red"))
    for name in run.files.values():
        out.print(_make_line(f"{view.loaded.folder}/{name}"), soft_wrap=True)


def _list_stages(view: RunView) -> Table:
    table = _make_table("stage", "outcome", "seconds", "what it says", "evidence")
    for stage in view.stages:
        result, outcome = stage.result, _colour_outcome(stage.outcome)
        sentence = _make_line(f"{result.sentence}{' (reused)' if result.reused else ''}")
        table.add_row(_make_line(result.stage), outcome, f"{result.seconds:.1f}", sentence, str(len(result.evidence)))
        for part in stage.parts:
            if part.kind != "case":  # cases have a table of their own
                name, outcome = _make_line(part.name, "  "), _colour_outcome(part.outcome)
                table.add_row(name, outcome, "", _make_line(part.sentence), str(len(part.evidence)))
    return table


def _list_cases(cases: tuple[JudgedCase, ...]) -> Table:
    """The arms beside each other, as in the report."""
    table = _make_table("check", "model", *(arm.value for arm in Arm))
    rows = arrange_by_arm(cases)
    for row in rows[:_LISTED]:
        table.add_row(_make_line(row.check), _make_line(row.model), *map(_show_case, row.arms))
    if len(rows) > _LISTED:
        table.caption = f"{len(rows) - _LISTED} more: --json"
    return table


def _show_case(judged: JudgedCase | None) -> Text:
    if judged is None:
        return Text("not run", style="dim")
    if not judged.holds:
        return Text(EVIDENCE_GONE, style="red")
    case = judged.case
    unexpected = "" if case.verdict == "as-expected" else f", {case.verdict}"
    style = "green" if case.observed == "pass" else "yellow" if judged.outcome is Outcome.PASS else "red"
    return Text(escape_line(f"{case.observed}{unexpected}"), style=style)


def print_stage(view: RunView, stage: StageView) -> None:
    out, result = open_console(), stage.result
    out.soft_wrap = True
    reused = " (reused)" if result.reused else ""
    sentence = f"{result.stage}{reused} in {result.seconds:.1f} s: {result.sentence}"
    out.print(_colour_outcome(stage.outcome), _make_line(sentence))
    for finding in result.findings[:_LISTED]:
        out.print(_make_line(finding.line, "  "))
    if len(result.findings) > _LISTED:
        out.print(f"  {len(result.findings) - _LISTED} more findings: --json")
    for item in result.evidence[:_LISTED]:
        lost = "  MISSING OR ALTERED" if item.path in view.altered else ""
        out.print(_make_line(f"{item.path}{lost}: {item.claim}", "  "))
        out.print(Text(f"    {item.sha256}  by {escape_line(item.command)}", style="dim"))


def print_diff(diff: RunDiff) -> None:
    out = open_console()
    out.print(Text(escape_line(diff.sentence), style="bold"))
    for topic, same in diff.same.items():
        changes = [change for change in diff.changes if change.topic == topic]
        if changes:
            table = _make_table("what", "before", "after", title=f"{topic}: {len(changes)} differ, {same} are the same")
            for change in changes[:_LISTED]:
                table.add_row(*(_make_line(cell or "-") for cell in (change.name, change.before, change.after)))
            out.print(table)
            if len(changes) > _LISTED:
                out.print(f"{len(changes) - _LISTED} more: --json")
    for note in diff.notes:
        out.print(_make_line(f"note: {note}"))


def print_runs(listing: RunList) -> None:
    out = open_console()
    for run in listing.runs:
        outcome = _colour_outcome(run.outcome) if run.outcome else Text("unreadable", style="magenta")
        level = "" if run.level is None else f", level {run.level}"
        where = f"{run.kit} on {run.branch}, {run.device}, {run.started}" if run.kit else ""
        out.print(_make_line(run.folder), outcome + Text(level), _make_line(where), soft_wrap=True)
        if run.sentence:
            out.print(_make_line(cut_text(run.sentence, 400), "  "))


def _make_table(*names: str, title: str | None = None) -> Table:
    """Long paths and hashes go on in the next line: a word cut short would be another one."""
    return Table(*(Column(name, overflow="fold") for name in names), title=title, title_justify="left")


def _colour_outcome(outcome: Outcome) -> Text:
    return Text(outcome.value, style=_COLOURS[outcome])


def _make_line(text: str, indent: str = "") -> Text:
    return Text(f"{indent}{escape_line(text)}")
