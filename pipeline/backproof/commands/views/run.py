"""How a run looks in a terminal. Text of a run is never markup here, and its control characters do not reach the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from backproof.commands.output import console, say
from backproof.core.model import Arm, Outcome
from backproof.core.plain_text import cut_text, escape_line
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import VerifyRecord
from backproof.verdict.run_verdict import case_outcome, stage_outcome
from backproof.verdict.sentences import level_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from backproof.core.model import Evidence
    from backproof.records.proof import Case, StageResult
    from backproof.report.run_diff import RunDiff
    from backproof.rundir.listing import RunList
    from backproof.rundir.loaded_run import LoadedRun

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


def run(story: LoadedRun) -> None:
    out = console()
    found = story.run
    out.print(_line(f"{found.title} ({found.kit}) on {found.settings.branch}"))
    out.print(Text(escape_line(found.sentence, 2000), style=f"bold {_COLOURS[found.outcome]}"))
    out.print(_line(f"levels: {_ladder(story)}"))
    for arm, summary in found.arms.items():
        out.print(
            _line(f"{arm}: {summary.outcome}{'' if summary.as_expected else ', NOT expected'}: {summary.sentence}")
        )
    out.print(_stages(story))
    if story.cases:
        out.print(_cases(story.cases))
    for path in sorted(story.altered):
        out.print(Text(f"missing or altered, and not counted: {escape_line(path)}", style="red"))
    for name in found.files.values():
        out.print(_line(f"{story.folder}/{name}"), soft_wrap=True)


def _ladder(story: LoadedRun) -> str:
    names = level_names(story.validate.device if story.validate else story.run.settings.device)
    level = story.run.level
    return " · ".join(
        f"{int(each)} {name} {'reached' if level is not None and each <= level else 'not reached'}"
        for each, name in names.items()
    )


def _stages(story: LoadedRun) -> Table:
    table = _table("stage", "outcome", "seconds", "what it says", "evidence")
    for each in story.stages:
        outcome = stage_outcome(each, story)
        said = f"{each.sentence}{' (reused)' if each.reused else ''}"
        table.add_row(
            _line(each.stage), _coloured(outcome), f"{each.seconds:.1f}", _line(said), str(len(each.evidence))
        )
        for name, ended, said, evidence in _parts(story, each.stage):
            held = ended if story.intact(evidence) or not evidence else Outcome.ERROR
            table.add_row(_line(name, "  "), _coloured(held), "", _line(said), str(len(evidence)))
    return table


def _parts(story: LoadedRun, stage: str) -> Iterator[tuple[str, Outcome, str, tuple[Evidence, ...]]]:
    """What a stage says in parts: name, outcome, sentence, evidence."""
    kind = story.registry.record_of(stage)
    if kind is VerifyRecord:
        yield from ((each.name, each.outcome, each.sentence, each.evidence) for each in story.claims)
    elif kind is ExperimentsRecord:
        for each in story.experiments:
            yield each.id, each.outcome, f"{each.question} {each.kind}: {each.sentence}", each.evidence


def _cases(cases: Iterable[Case]) -> Table:
    """The arms beside each other, as in the report."""
    by = {(each.check, each.model, each.arm): each for each in cases}
    table = _table("check", "model", *(arm.value for arm in Arm))
    pairs = list(dict.fromkeys((check, model) for check, model, _ in by))
    for check, model in pairs[:_LISTED]:
        table.add_row(_line(check), _line(model), *(_case(by.get((check, model, arm))) for arm in Arm))
    if len(pairs) > _LISTED:
        table.caption = f"{len(pairs) - _LISTED} more: --json"
    return table


def _case(case: Case | None) -> Text:
    if case is None:
        return Text("not run", style="dim")
    expected = "" if case.verdict == "as-expected" else f", {case.verdict}"
    style = "green" if case.observed == "pass" else "yellow" if case_outcome(case) is Outcome.PASS else "red"
    return Text(escape_line(f"{case.observed}{expected}"), style=style)


def stage(story: LoadedRun, found: StageResult) -> None:
    out = console()
    out.soft_wrap = True
    outcome = stage_outcome(found, story)
    reused = " (reused)" if found.reused else ""
    out.print(_coloured(outcome), _line(f"{found.stage}{reused} in {found.seconds:.1f} s: {found.sentence}"))
    for each in found.findings[:_LISTED]:
        out.print(_line(f"{each.severity}: {f'{each.where}: ' if each.where else ''}{each.text}", "  "))
    if len(found.findings) > _LISTED:
        out.print(f"  {len(found.findings) - _LISTED} more findings: --json")
    for proof in found.evidence[:_LISTED]:
        lost = "  MISSING OR ALTERED" if proof.path in story.altered else ""
        out.print(_line(f"{proof.path}{lost}: {proof.claim}", "  "))
        out.print(Text(f"    {proof.sha256}  by {escape_line(proof.command)}", style="dim"))


def difference(found: RunDiff) -> None:
    out = console()
    out.print(Text(escape_line(found.sentence), style="bold"))
    for topic, same in found.same.items():
        rows = [each for each in found.changes if each.topic == topic]
        if rows:
            table = _table("what", "before", "after", title=f"{topic}: {len(rows)} differ, {same} are the same")
            for each in rows[:_LISTED]:
                table.add_row(*(_line(cell or "-") for cell in (each.name, each.before, each.after)))
            out.print(table)
            if len(rows) > _LISTED:
                out.print(f"{len(rows) - _LISTED} more: --json")
    for note in found.notes:
        out.print(_line(f"note: {note}"))


def listed(found: RunList) -> None:
    if not found.runs:
        say("no runs here")
        return
    out = console()
    for each in found.runs:
        outcome = _coloured(each.outcome) if each.outcome else Text("unreadable", style="magenta")
        level = "" if each.level is None else f", level {each.level}"
        where = f"{each.kit} on {each.branch}, {each.device}, {each.started}" if each.kit else ""
        out.print(_line(each.folder), outcome + Text(level), _line(where), soft_wrap=True)
        if each.sentence:
            out.print(_line(cut_text(each.sentence, 400), "  "))


def _table(*names: str, title: str | None = None) -> Table:
    """Long paths and hashes go on in the next line: a word cut short would be another one."""
    return Table(*(Column(name, overflow="fold") for name in names), title=title, title_justify="left")


def _coloured(outcome: Outcome) -> Text:
    return Text(outcome.value, style=_COLOURS[outcome])


def _line(text: str, indent: str = "") -> Text:
    return Text(f"{indent}{escape_line(text)}")
