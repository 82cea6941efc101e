"""Publishing a run that passed, against the stand-in for GitHub: whatever happens, one comment stands there."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attempt
import points
from attempt import Bench, Fault, Troubles
from server import StandIn, start

if TYPE_CHECKING:
    from collections.abc import Iterator

TOKEN = "token-of-the-bot-000000"  # noqa: S105 - of the stand-in
PULL = 5
REPLIES = ("lost-reply", "502-done", "502", "truncated")
"""What GitHub's side can do to the one request that posts; the first two after it has posted."""


@contextmanager
def hub(made: Bench) -> Iterator[tuple[StandIn, Bench]]:
    """The stand-in, with the pull request of the kit, and a bench whose commands speak with it."""
    git = made.job.upstream.git
    stand_in = StandIn()
    fix = git("rev-parse", "main")
    stand_in.world.pull(PULL, head=fix, base="release")
    stand_in.world.commits[fix] = {}
    stand_in.world.pull_commits[PULL] = [fix]
    stand_in.world.branches["release"] = git("rev-parse", "release")
    server = start(stand_in)
    # A client that is killed in the middle of a request is what is tried here, and no news.
    vars(server)["handle_error"] = lambda *_: None
    env = {**made.env, "GITHUB_API_URL": stand_in.url, "GH_TOKEN": TOKEN}
    try:
        yield stand_in, Bench(job=made.job, before=made.before, env=env)
    finally:
        server.shutdown()
        server.server_close()


def argv(made: Bench) -> list[str]:
    return ["publish", str(made.job.run_folder), "--publish"]


def keep(made: Bench) -> Path:
    """A run that passed, to begin each try with."""
    attempt.fresh(made)
    code = attempt.command(made, made.job.arguments())
    if code != attempt.PASSED:
        raise SystemExit(f"the run to publish ended with {code}:\n{made.log.read_text()}")
    kept = made.job.folder.with_suffix(".kept")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(made.job.run_folder, kept, symlinks=True)
    return kept


def again(stand_in: StandIn, made: Bench, kept: Path) -> None:
    """As before anything was posted."""
    stand_in.world.comments.clear()
    stand_in.faults.clear()
    stand_in.violations.clear()
    shutil.rmtree(made.job.run_folder)
    shutil.copytree(kept, made.job.run_folder, symlinks=True)


def struck(stand_in: StandIn, made: Bench, at: tuple[points.Point, int], fault: Fault) -> Troubles:
    """One thing happens to a publish; the next one leaves one comment."""
    troubles = Troubles()
    watch = points.Watch(folder=str(made.job.folder), at=at, fault=fault, stage="publish", again=argv(made))
    code = attempt.command(made, argv(made), watch, keep=made.kept)
    troubles.unless(code in attempt.may_end(fault), f"ended with {code}: {attempt.tail(made)}")
    _settles(stand_in, made, troubles)
    return troubles


def answered(stand_in: StandIn, made: Bench, kind: str) -> Troubles:
    """GitHub's answer to the post goes wrong; the next publish leaves one comment."""
    troubles = Troubles()
    stand_in.fault(kind, "POST", "/comments")  # type: ignore[arg-type] # one of REPLIES
    code = attempt.command(made, argv(made))
    troubles.unless(code in attempt.TOLD, f"ended with {code}: {attempt.tail(made)}")
    _settles(stand_in, made, troubles)
    return troubles


def _settles(stand_in: StandIn, made: Bench, troubles: Troubles) -> None:
    troubles.unless(len(stand_in.world.bodies(PULL)) <= 1, "posted twice by the first command")
    code = attempt.command(made, argv(made))
    troubles.unless(code == attempt.PASSED, f"the next publish ended with {code}: {attempt.tail(made)}")
    troubles.unless(len(stand_in.world.bodies(PULL)) == 1, f"{len(stand_in.world.bodies(PULL))} comments stand there")
    # A request that was cut with its process has no body, and may be read late: the fault's doing, no breach of ours.
    breaches = [each for each in stand_in.violations if not each.endswith("lacks its body")]
    troubles.unless(not breaches, f"GitHub's contract was broken: {breaches}")
    troubles.unless(made.job.outside() == made.before, "outside the run folder something changed")
    attempt.valid(made.job.run_folder, troubles)
