"""The commands that are for GitHub's Actions: what to run, what came of one run, what came of all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.options import FILE, FOLDER, CommandGroup, json_option, kit_option, language_option
from backproof.commands.output import actions_job, print_exact, print_json, print_line, print_text
from backproof.core.redaction import redact_for_public

if TYPE_CHECKING:
    from backproof.core.model import Finding
    from backproof.records.merged import Shard
    from backproof.upstream import publish


@click.group(cls=CommandGroup)
def ci_group() -> None:
    """Work in GitHub Actions: what to run, and what came of it."""


@ci_group.command("matrix")
@click.argument("kit", type=FOLDER)
@click.option("--repo", required=True, help="The upstream repository: a path or a URL. It is only read.")
@click.option("--branch", "branches", multiple=True, help="Only this release branch; may be given again.")
@click.option("--device", "devices", multiple=True, help="Only this device; may be given again.")
@click.option("--labels", default="", help="Labels of the self-hosted runners that have the device, with commas.")
@click.option("--python", default="", help="The interpreter there that has the release, where the plan names none.")
@click.option("--container", default="", help="The image of the job there, where the plan names none.")
@click.option("--environment", default="", help="A script to source there, or `login`, where the plan names none.")
def matrix_command(
    *, kit: Path, repo: str, branches: tuple[str, ...], devices: tuple[str, ...], labels: str, **runner: str
) -> None:
    """Print the matrix of KIT for a workflow: release branches by devices, one line of JSON."""
    from backproof.devices import DEVICES
    from backproof.kit.loader import load_plan
    from backproof.kit.plan import Runner
    from backproof.upstream.matrix import make_matrix

    wanted = [part for name in devices for part in name.replace(",", " ").split()]
    default = Runner(labels=tuple(part.strip() for part in labels.split(",") if part.strip()), **runner)
    cells = make_matrix(load_plan(kit, DEVICES), repo, branches=branches, devices=wanted, default=default)
    matrix = cells.model_dump(mode="json")
    # One line: a workflow takes it as it is.
    print_exact(json.dumps(matrix))
    if actions := actions_job(err=True):
        # The list alone: GitHub takes any other key of a matrix for a vector, and refuses one that is no list.
        actions.set_outputs(include=json.dumps(matrix["include"], ensure_ascii=False))


@ci_group.command("merge")
@click.argument("folders", metavar="RUN...", nargs=-1, required=True, type=FOLDER)
@click.option("--kit", type=FOLDER, required=True, help="The kit that the runs share.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Where merged.json and merged.md go.")
@click.option(
    "--expect", "expected", type=FILE, help="What `backproof ci matrix` printed: a cell without a run is an error."
)
@json_option
def merge_command(*, folders: tuple[Path, ...], kit: Path, out: Path, expected: Path | None, as_json: bool) -> None:
    """Join the runs of a matrix into one report; the worst outcome is the exit code."""
    from backproof.core.model import Outcome
    from backproof.report import render
    from backproof.stages import REGISTRY
    from backproof.upstream import merge as merging

    merged = merging.merge_runs(folders, kit, REGISTRY, expected=expected)
    merging.write_merged(merged, out)
    text = render.render_matrix(merged)
    print_json(merged) if as_json else print_text(text)
    if actions := actions_job(err=True):
        actions.append_summary(text)
        actions.annotate_findings(_shard_finding(shard) for shard in merged.shards if shard.outcome is not Outcome.PASS)
        actions.set_outputs(outcome=merged.outcome, report_path=str(out / "merged.json"))
    sys.exit(merged.outcome.exit_code)


def _shard_finding(shard: Shard) -> Finding:
    from backproof.core.model import Finding

    return Finding(
        severity="fail", text=f"{shard.outcome}: {shard.sentence}", where=f"{shard.branch} on {shard.device}"
    )


@ci_group.command()
@click.argument("folder", metavar="RUN", type=FOLDER)
@kit_option
@language_option
def present(*, folder: Path, kit: Path | None, lang: publish.Language) -> None:
    """Show RUN in the job that runs this: summary, annotations, outputs. Outside Actions, print the comment."""
    from backproof.report import render
    from backproof.stages import REGISTRY
    from backproof.upstream import publish

    loaded = publish.load_publishable(folder, REGISTRY, kit)
    text = render.render_comment(loaded.story, loaded.plan, language=lang)
    actions = actions_job()
    if actions is None:
        print_text(text)
        return
    actions.append_summary(text)
    with actions.open_group("Findings"), actions.fence_output():
        for stage in loaded.run.stages:
            print_line(redact_for_public(f"{stage.stage}: {stage.outcome}: {stage.sentence}"))
    found = [finding for stage in loaded.run.stages for finding in stage.findings if finding.severity != "note"]
    # A job's log is public where the repository is.
    actions.annotate_findings(item.model_copy(update={"text": redact_for_public(item.text)}) for item in found)
    actions.set_outputs(outcome=loaded.run.outcome, run_id=loaded.run.id, report_path=str(folder / "report.html"))
