"""prove: backports, by the tests that their fixes bring."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from backproof.commands.options import json_option
from backproof.commands.output import print_json, print_line, say

if TYPE_CHECKING:
    from backproof.app.prove import ProveRequest
    from backproof.records.proving import ProofRecord


@click.command()
@click.argument("what", nargs=-1, metavar="WHAT...")
@click.option("--branch", default="", help="The release branch.")
@click.option(
    "--branches",
    multiple=True,
    metavar="GLOB",
    help="Instead of --branch: each that matches. Is it affected, and is it proved?",
)
@click.option("--repo", default=".", show_default=True, help="The repository: a path or a URL. It is only read.")
@click.option("--landed", is_flag=True, help="WHAT stands on the branch already: prove it there.")
@click.option(
    "--since", metavar="TAG", help="Instead of WHAT: every backport on the branch since a tag, and all together."
)
@click.option(
    "--jobs", type=click.IntRange(1), help="With --since: proofs at a time; by default what the machine holds."
)
@click.option(
    "--guards", is_flag=True, help="Run the release's own tests of the change also where the fix's tests prove it."
)
@click.option("--out", type=click.Path(path_type=Path), help="Where the proof goes; by default a folder in runs/.")
@json_option
def prove(
    *, branches: tuple[str, ...], since: str | None, jobs: int | None, out: Path | None, as_json: bool, **rest: Any
) -> None:
    """Prove a backport by its fix's own tests: red without it, green with it, and they reach what it changes.

    WHAT is a commit, several, a range A..B, or owner/name#N.
    """
    from backproof.app.prove import ProveRequest, prove_backport
    from backproof.commands.views import proof

    what, branch = rest["what"], rest["branch"]
    if bool(what) == bool(since) or bool(branch) == bool(branches) or (since and branches):
        raise click.UsageError("Give WHAT with --branch or --branches, or --since TAG with --branch.")
    folder = out or proof.name_folder(what or (f"since-{since}",), branch or "branches")
    request = ProveRequest(out=folder, **rest)
    if since or branches:
        _prove_many(request, since, branches, jobs, as_json=as_json)
    _finish(prove_backport(request, say), folder, as_json=as_json)


def _finish(record: ProofRecord, folder: Path, *, as_json: bool) -> NoReturn:
    from backproof.commands.views import proof
    from backproof.records.proving import OUTCOMES

    if as_json:
        print_json(record)
    else:
        proof.print_proof(record)
        for name in ("comment.md", "proof.json"):
            print_line(folder / name)
    sys.exit(OUTCOMES[record.outcome].exit_code)


def _prove_many(
    request: ProveRequest, since: str | None, branches: tuple[str, ...], jobs: int | None, *, as_json: bool
) -> NoReturn:
    from backproof.app import prove_many
    from backproof.commands.views import proof
    from backproof.core.model import worst_outcome
    from backproof.records.proving import OUTCOMES

    if since:
        proofs = prove_many.prove_since(request, since, say, jobs=jobs)
    else:
        proofs = prove_many.prove_branches(request, branches, say)
    if as_json:
        rows = [record.model_dump(mode="json", by_alias=True) for record in proofs]
        print_json({"schema_version": 1, "proofs": rows})
    else:
        proof.print_table(proofs)
        for name in ("table.md", "table.html", "table.jsonl"):
            print_line(request.out / name)
    # What has no test to prove it is no mistake of the branch: only what got worse, or could not be told, is.
    told = [OUTCOMES[record.outcome] for record in proofs if record.outcome != "not proved"]
    sys.exit(worst_outcome(told).exit_code if told else 0)
