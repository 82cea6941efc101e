"""The command `new`: which way the facts come, and what a person is told to fill in."""

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

    choices = scaffold.choose(identity=identity, device=device, release=release)
    facts = _from_pull(pull, repo, branch) if pull and not commits else _from_commits(pull, repo, commits, branch)
    folder = out or Path("patches") / scaffold.identity(facts, choices)
    _print(scaffold.write(facts, folder, choices))


def _from_pull(pull: str, repo: str | None, branch: str | None) -> Facts:
    from backproof import scaffold
    from backproof.upstream.connection import connect, parse_pull

    if repo:
        raise PlanError(
            f"{pull}: a repository is named, too",
            why="a pull request is read from GitHub, so --repo would not be looked at",
            next_step="leave --repo out, or name the commits with --commit instead of the pull request",
        )
    return scaffold.from_pull(connect(), *parse_pull(pull), branch or "")


def _from_commits(pull: str | None, repo: str | None, commits: tuple[str, ...], branch: str | None) -> Facts:
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
            why="commits are read from a repository, and a kit is for a release branch of it",
            next_step="give --repo, --commit and --branch",
        )
    return scaffold.from_commits(repo, commits, branch)


def _print(made: Scaffold) -> None:
    for name in made.files:
        print_line(made.folder / name)
    print_line("to fill in:")
    for key, why in made.to_fill:
        print_line(f"  {key}: {why}")
    print_line(f"then: backproof plan check {made.folder}")
