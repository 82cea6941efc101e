"""find: from a failure to the commits, issues and pull requests that may be its fix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import json_option
from backproof.commands.output import print_json, print_line, say
from backproof.core.errors import PlanError
from backproof.core.plural import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backproof.history.records import FindRecord
    from backproof.records.triage import TriageResult
    from backproof.upstream.similar import SimilarIssues


@click.command("find")
@click.argument("paths", metavar="LOGS|RUN...", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--repo", help="The repository: a path or a URL. It is only read.")
@click.option("--release", help="With --repo: the branch, tag or commit that failed.")
@click.option("--main", "main_branch", help="The main branch; by default main, master, trunk or develop.")
@click.option("--github", metavar="OWNER/NAME", help="Also search the issues and pull requests there.")
@click.option("--words", default="", help="What the logs do not say: a model, a mode, the title of an issue.")
@click.option("--top", type=click.IntRange(1, 50), default=5, show_default=True, help="How many commits are shown.")
@json_option
def find_command(
    *,
    paths: Sequence[Path],
    repo: str | None,
    release: str | None,
    main_branch: str | None,
    github: str | None,
    words: str,
    top: int,
    as_json: bool,
) -> None:
    """Find what may fix a failure: commits that the release lacks, issues and pull requests, each with what it shares.

    LOGS are what `backproof triage` reads, or the file of its --json; RUN is a run's folder. The index of a repository's
    history is made once and kept.
    """
    triaged, title = _read_failure(paths)
    words = f"{words} {title}".strip()
    if not (repo and release) and github is None:
        raise PlanError(
            "there is nowhere to search",
            why="neither a repository with a release nor a place on GitHub is named",
            next_step="add --repo PATH --release BRANCH, or --github OWNER/NAME",
        )
    commits = _search_commits(triaged, words, repo, release, main_branch, top) if repo and release else None
    issues = _search_issues(triaged, words, github) if github else None
    if as_json:
        parts = {"commits": commits, "issues": issues}
        print_json(
            {"schema_version": 2} | {name: part and part.model_dump(mode="json") for name, part in parts.items()}
        )
        return
    if commits and repo:
        _print_commits(commits, repo)
    if issues:
        _print_issues(issues)


def _read_failure(paths: Sequence[Path]) -> tuple[TriageResult | None, str]:
    """Return what triage says of logs or said of a run, and the title of the run."""
    from backproof.records.triage import TriageResult
    from backproof.rundir import loaded_run
    from backproof.rundir.ledger import Ledger, read_written
    from backproof.stages import REGISTRY
    from backproof.triage import triage

    path, title = paths[0], ""
    if len(paths) == 1 and (path / "run.json").is_file():
        title = loaded_run.require_run(Ledger(path)).title
        path = path / REGISTRY.path_of(TriageResult)
        if not path.is_file():
            return None, title
    if len(paths) == 1 and path.suffix == ".json":
        return read_written(path, TriageResult, what="first fault", command="backproof triage --json"), title
    return triage(paths), title


def _search_commits(  # noqa: PLR0917
    triaged: TriageResult | None, words: str, repo: str, release: str, main_branch: str | None, top: int
) -> FindRecord:
    from backproof.history.find_fix import search_history
    from backproof.history.repository import open_repository
    from backproof.records.triage import Clue

    clues = [*(triaged.clues if triaged else ()), *([Clue(what="word", text=words)] if words else [])]
    with open_repository(repo, say) as opened:
        return search_history(opened, clues, release=release, main_branch=main_branch, top=top)


def _search_issues(triaged: TriageResult | None, words: str, github: str) -> SimilarIssues:
    from backproof.upstream import similar
    from backproof.upstream.connection import connect

    wanted = similar.make_fingerprint(triaged, words=words)
    return similar.search_similar(connect(), github, wanted)


def _print_commits(record: FindRecord, repo: str) -> None:
    print_line(
        f"{format_count(record.candidates, 'commit')} that {record.release} lacks, searched by {', '.join(record.searched_by)}"
    )
    for fix in record.fixes:
        print_line(f"{fix.commit[:12]} {fix.subject}")
        print_line(f"    shares {', '.join(fix.shared)}; on {record.release}: {fix.outcome}, affected: {fix.affected}")
    print_line(_say_next(record, repo))


def _say_next(record: FindRecord, repo: str) -> str:
    from backproof.records.picks import PickOutcome

    if not record.fixes:
        return (
            "no commit shares enough with the failure: its fix is not among them, or the logs say too little (--words)"
        )
    for fix in record.fixes:
        where = f"{fix.commit[:12]} --repo {repo} --branch {record.release}"
        if fix.outcome is PickOutcome.CLEAN:
            return f"next: backproof prove {where}"
        if fix.outcome is not PickOutcome.ALREADY_THERE:
            return f"next: backproof history explain {where}"
    return f"{record.release} has them all: the failure is another one, or comes from what it was built from"


def _print_issues(record: SimilarIssues) -> None:
    print_line("issues searched by " + "; ".join(f"{name} {value}" for name, value in record.fingerprint.items()))
    for row in record.similar:
        differs = f"; differs: {', '.join(row.differs)}" if row.differs else ""
        print_line(f"#{row.number} {row.stars} ({row.kind}, {row.state}) {row.title}")
        print_line(f"    shares {'; '.join(row.shared)}{differs}")
    if not record.similar:
        print_line("no issue shares anything")
