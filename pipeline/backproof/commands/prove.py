"""prove: a backport, by the tests that its fix brings."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from backproof.commands.options import json_option
from backproof.commands.output import print_json, print_line, say


@click.command()
@click.argument("what", nargs=-1, required=True, metavar="WHAT...")
@click.option("--branch", required=True, help="The release branch.")
@click.option("--repo", default=".", show_default=True, help="The repository: a path or a URL. It is only read.")
@click.option("--landed", is_flag=True, help="WHAT stands on the branch already: prove it there.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the proof goes; by default a new folder in runs/.")
@json_option
def prove(*, what: tuple[str, ...], branch: str, repo: str, landed: bool, out: Path | None, as_json: bool) -> None:
    """Prove a backport by its fix's own tests: red without it, green with it, and they reach what it changes.

    WHAT is a commit, several, a range A..B, or owner/name#N.
    """
    from backproof.app.prove import ProveRequest, prove_backport
    from backproof.commands.views import proof
    from backproof.records.proving import OUTCOMES

    folder = out or proof.name_folder(what, branch)
    request = ProveRequest(what=what, branch=branch, repo=repo, out=folder, landed=landed)
    record = prove_backport(request, say)
    if as_json:
        print_json(record)
    else:
        proof.print_proof(record)
        print_line(folder / "proof.json")
    sys.exit(OUTCOMES[record.outcome].exit_code)
