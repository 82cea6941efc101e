"""Writes comment.md, report.html and junit.xml from what the run folder can still show; also after a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backproof.core.model import Outcome, Record, StageRole
from backproof.records.proof import ReportRecord, StageResult
from backproof.report import junit, render
from backproof.report.view import RunView
from backproof.rundir import loaded_run
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "report"
NEEDS: tuple[type[Record], ...] = ()
RECORD = ReportRecord
ROLE = StageRole.AFTERWARDS
REUSABLE = False

_CLAIMS = {
    "comment.md": "the drafted comment, from the evidence before it",
    "report.html": "the report as one page, from the evidence before it",
    "junit.xml": "the cases for a CI page, from the evidence before it",
}


def inputs(ctx: Context) -> Mapping[str, Any]:
    stages = loaded_run.before_report(ctx.run, ctx.registry).stages
    return {"stages": [result.model_dump(mode="json") for result in stages]}


def run(ctx: Context) -> StageResult:
    loaded = run_verdict.read_evidence(ctx.ledger, loaded_run.before_report(ctx.run, ctx.registry), ctx.registry)
    loaded = replace(loaded, run=run_verdict.judge_run(loaded))
    texts = {
        "comment.md": render.render_comment(loaded, ctx.plan),
        "report.html": render.render_page(loaded, ctx.plan),
        "junit.xml": junit.render_junit(RunView(loaded=loaded)),
    }
    ctx.say(loaded.run.sentence)
    command = "backproof report"
    files = [
        ctx.ledger.write_evidence(name, text, claim=_CLAIMS[name], command=command) for name, text in texts.items()
    ]
    record = ReportRecord(sentence=loaded.run.sentence, files=tuple(texts))
    files.append(ctx.keep_record(record, claim="which files tell of the run", command=command))
    sentence = f"wrote {', '.join(texts)}: {loaded.run.sentence}"
    return StageResult(stage=NAME, outcome=Outcome.PASS, sentence=sentence, evidence=tuple(files))
