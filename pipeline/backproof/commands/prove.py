"""prove: backports, by the tests that their fixes bring."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from backproof.commands.options import json_option
from backproof.commands.output import print_json, print_line, say

if TYPE_CHECKING:
    from backproof.app.prove_many import ManyRequest


@click.command()
@click.argument("what", nargs=-1, metavar="WHAT...")
@click.option("--branch", required=True, help="The release branch.")
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
    *,
    what: tuple[str, ...],
    branch: str,
    repo: str,
    landed: bool,
    since: str | None,
    jobs: int | None,
    guards: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """Prove a backport by its fix's own tests: red without it, green with it, and they reach what it changes.

    WHAT is a commit, several, a range A..B, or owner/name#N.
    """
    from backproof.app.prove import ProveRequest, prove_backport
    from backproof.commands.views import proof
    from backproof.records.proving import OUTCOMES

    if bool(what) == bool(since):
        raise click.UsageError("Give WHAT, or --since TAG.")
    folder = out or proof.name_folder(what or (f"since-{since}",), branch)
    if since:
        from backproof.app.prove_many import ManyRequest

        _prove_many(ManyRequest(since=since, branch=branch, repo=repo, out=folder, jobs=jobs), as_json=as_json)
    request = ProveRequest(what=what, branch=branch, repo=repo, out=folder, landed=landed, guards=guards)
    record = prove_backport(request, say)
    if as_json:
        print_json(record)
    else:
        proof.print_proof(record)
        print_line(folder / "proof.json")
    sys.exit(OUTCOMES[record.outcome].exit_code)


def _prove_many(request: ManyRequest, *, as_json: bool) -> NoReturn:
    from backproof.app.prove_many import prove_since
    from backproof.commands.views import proof
    from backproof.core.model import worst_outcome
    from backproof.records.proving import OUTCOMES

    proofs = prove_since(request, say)
    if as_json:
        print_json(
            {"schema_version": 1, "proofs": [record.model_dump(mode="json", by_alias=True) for record in proofs]}
        )
    else:
        proof.print_table(proofs)
        for name in ("table.md", "table.html", "table.jsonl"):
            print_line(request.out / name)
    # What has no test to prove it is no mistake of the branch: only what got worse, or could not be told, is.
    worst = worst_outcome(OUTCOMES[record.outcome] for record in proofs if record.outcome != "not proved")
    sys.exit(worst.exit_code if any(record.outcome != "not proved" for record in proofs) else 0)
