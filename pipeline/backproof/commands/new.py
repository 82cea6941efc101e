"""The command `new`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from backproof.commands.output import print_line
from backproof.core.errors import PlanError
from backproof.devices import DEVICES, SCAFFOLDED

if TYPE_CHECKING:
    from backproof.scaffold import Facts, Scaffold


@click.command()
@click.argument("pull", metavar="[PR]", required=False)
@click.option("--repo", help="With --commit: the repository, a path or a URL. It is only read.")
@click.option("--commit", "commits", metavar="SHA", multiple=True, help="A commit to pick; again for more, in order.")
@click.option("--mainline", type=click.IntRange(min=1), help="Of merge commits, the parent that is the main line.")
@click.option("--branch", help="The release branch that wants it; by default the one that PR is made for.")
@click.option("--id", "identity", default="", help="The kit's id; by default the pull request's number.")
@click.option(
    "--device", default=SCAFFOLDED, show_default=True, help=f"Where the check will run: {', '.join(DEVICES)}."
)
@click.option("--release", default="", metavar="NAME==VERSION", help="The affected release, for `backproof demo`.")
@click.option("--out", type=click.Path(path_type=Path), help="The kit's folder; by default patches/<id>.")
def new(
    *,
    pull: str | None,
    repo: str | None,
    commits: tuple[str, ...],
    mainline: int | None,
    branch: str | None,
    identity: str,
    device: str,
    release: str,
    out: Path | None,
) -> None:
    """Write a kit; what a person must fill in is named.

    It is made from the pull request PR, which is read from GitHub, or from commits of a git repository with --repo,
    --commit and --branch.
    """
    from backproof import scaffold

    choices = scaffold.check_choices(identity=identity, device=device, release=release)
    facts = (
        _read_pull(pull, repo, branch) if pull and not commits else _read_commits(pull, repo, commits, branch, mainline)
    )
    folder = out or Path("patches") / scaffold.choose_identity(facts, choices)
    _print_kit(scaffold.write_kit(facts, folder, choices))


def _read_pull(pull: str, repo: str | None, branch: str | None) -> Facts:
    from backproof import scaffold
    from backproof.upstream.connection import connect, parse_pull

    if repo:
        raise PlanError(
            f"{pull}: --repo cannot be combined with a pull request",
            why="a pull request is read from GitHub, so --repo would be ignored",
            next_step="leave --repo out, or name the commits with --commit instead of the pull request",
        )
    return scaffold.read_pull(connect(), *parse_pull(pull), branch or "")


def _read_commits(
    pull: str | None, repo: str | None, commits: tuple[str, ...], branch: str | None, mainline: int | None
) -> Facts:
    from backproof import scaffold

    if pull or not commits:
        raise PlanError(
            "new: name a pull request or commits",
            why="both are given" if pull else "neither is given",
            next_step="give owner/name#12, or --repo, --commit and --branch",
        )
    if not (repo and branch):
        raise PlanError(
            f"new: {'--branch' if repo else '--repo'} is missing",
            why="commits are read from a repository, for a release branch of it",
            next_step="give --repo, --commit and --branch",
        )
    return scaffold.read_commits(repo, commits, branch, mainline=mainline)


def _print_kit(kit: Scaffold) -> None:
    for name in kit.files:
        print_line(kit.folder / name)
    print_line("to fill in:")
    for key, why in kit.to_fill:
        print_line(f"  {key}: {why}")
    print_line(f"then: backproof plan check {kit.folder}")
