"""propose: a proved backport as a draft pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from backproof.commands.options import FOLDER, kit_option
from backproof.commands.output import print_json, print_line

if TYPE_CHECKING:
    from pathlib import Path


@click.command("propose")
@click.argument("folder", metavar="RUN", type=FOLDER)
@kit_option
@click.option(
    "--signed-off-by", "signer", required=True, metavar='"NAME <ADDRESS>"', help="The person who asked for it."
)
@click.option("--title", help="Its title, with {branch}, {title} and {original}.")
@click.option("--fork", default="", metavar="OWNER/NAME", help="Where the branch goes; by default the upstream itself.")
@click.option(
    "--publish", "really", is_flag=True, help="Open it. Without this, only show the requests that would be sent."
)
def propose_command(*, folder: Path, kit: Path | None, signer: str, title: str | None, fork: str, really: bool) -> None:
    """Open the backport of RUN as a draft pull request, with its picks, drops and fix-ups.

    Only a run that passed, on the branch's tip, is proposed; its trees must come out on GitHub as they were proved. The token
    of a job starts no CI on what it opens: use one of a person or an App.
    """
    from backproof.stages import REGISTRY
    from backproof.upstream import publish
    from backproof.upstream.connection import connect

    wishes = publish.ProposalWishes(signer=signer, title=title or publish.TITLE, fork=fork)
    proposal = publish.prepare_proposal(connect(), publish.load_publishable(folder, REGISTRY, kit), wishes)
    if really:
        print_line(f"open: {proposal.carry_out().html_url}")
        return
    if opened := proposal.find_open():
        print_line(f"open already: {opened.html_url}")
        return
    for path, body in proposal.list_requests():
        print_line(f"would send POST {path}")
        print_json(body)
    print_line("nothing was sent; --publish sends it")
