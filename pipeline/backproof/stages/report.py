"""Writes comment.md, report.html and junit.xml from what the run folder can still show; also after a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from backproof.core.errors import HostError
from backproof.core.model import Outcome
from backproof.records.proof import StageResult
from backproof.report import junit, render
from backproof.rundir import loaded_run
from backproof.verdict import run_verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.rundir.context import Context

NAME = "report"
NEEDS: tuple[str, ...] = ()
REUSABLE = False

_CLAIMS = {
    "comment.md": "the drafted comment, from the evidence before it",
    "report.html": "the report as one page, from the evidence before it",
    "junit.xml": "the cases for a CI page, from the evidence before it",
}


def inputs(ctx: Context) -> Mapping[str, Any]:
    run = ctx.ledger.load_run()
    return {"stages": [each.model_dump(mode="json") for each in loaded_run.before_report(run).stages] if run else []}


def run(ctx: Context) -> StageResult:
    found = ctx.ledger.load_run()
    if found is None:
        raise HostError(
            f"{ctx.ledger.folder}: there is no run.json to report on",
            why="no stage has run in this folder, or its run.json is of another version",
            next_step="run `backproof run` with this folder as --out",
        )
    told = loaded_run.read(ctx.ledger, loaded_run.before_report(found))
    told = replace(told, run=run_verdict.judged(told))
    texts = {
        "comment.md": render.comment(told, ctx.plan),
        "report.html": render.page(told, ctx.plan),
        "junit.xml": junit.report(told),
    }
    ctx.say(told.run.sentence)
    command = "backproof report"
    evidence = tuple(
        ctx.ledger.evidence(ctx.ledger.write_text(name, text), claim=_CLAIMS[name], command=command)
        for name, text in texts.items()
    )
    return StageResult(
        stage=NAME, outcome=Outcome.PASS, sentence=f"wrote {', '.join(texts)}: {told.run.sentence}", evidence=evidence
    )
