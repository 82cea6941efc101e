"""The duplicates campaign: `tox run -e duplicates`. Whatever GitHub does to a publish, the next one leaves one comment.

Each try publishes twice, two at once in every fourth: the requests meet faults, and lists lag, both drawn by chance from a
number that is printed. The second publish is of the same run folder or of another's, as in the next job. Counted are
comments, and requests that posted again what had been posted.
"""

from __future__ import annotations

import argparse
import random
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "support")]

from backproof.adapters.github.comment import CommentPlace
from backproof.adapters.github.marker import CommentDraft
from backproof.core.errors import GitHubError
from github_fixtures import AUTHOR, connect
from server import Kind, StandIn, start
from world import World

PULL = 7
FAULTS: tuple[Kind, ...] = ("lost-reply", "502", "502-done", "truncated", "cut")
VERBS = ("GET", "POST", "PATCH", "DELETE")
LONGEST_LAG = 5
"""In lists: one more than a publish asks for before it posts again."""


@dataclass(kw_only=True, slots=True)
class Try:
    """What was drawn for one try, and what came of it."""

    number: int
    faults: list[str] = field(default_factory=list)
    lag: int = 0
    at_once: bool = False
    same_folder: bool = False
    after_first: int = 0
    left: int = 0
    refused: int = 0
    posted: int | None = None

    @property
    def kind(self) -> str:
        return f"{'two at once' if self.at_once else 'one by one'}, {'lag' if self.lag else 'no lag'}, {len(self.faults)} faults"


@contextmanager
def serve() -> Iterator[StandIn]:
    """The stand-in for GitHub."""
    hub = StandIn()
    server = start(hub)
    # A client that gives up in the middle of an answer is what is tried here, and no news.
    vars(server)["handle_error"] = lambda *_: None
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()


def attempt(hub: StandIn, number: int) -> Try:
    """Publish twice, and once more where nothing goes wrong any more."""
    chance = random.Random(number)  # noqa: S311 - repeatable, not secret
    tried = draw(hub, number, chance)
    drafts = [draft("one", day=1), draft("two", day=2)]
    if tried.at_once:
        threads = [threading.Thread(target=publish, args=(hub, tried, text)) for text in drafts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        settle(hub)
    else:
        publish(hub, tried, drafts[0])
    tried.after_first = len(hub.world.bodies(PULL))
    hub.faults.clear()
    publish(hub, tried, drafts[1], recorded=tried.posted if tried.same_folder else None)
    tried.left = len(hub.world.bodies(PULL))
    return tried


def draw(hub: StandIn, number: int, chance: random.Random) -> Try:
    """Set the stand-in up for one try."""
    tried = Try(number=number, lag=chance.randrange(LONGEST_LAG + 1), at_once=number % 4 == 3)
    tried.same_folder = chance.random() < 0.5
    hub.world, hub.faults = World(lag=tried.lag), []
    hub.world.pull(PULL)
    for _ in range(chance.randrange(4)):
        kind, verb, times = chance.choice(FAULTS), chance.choice(VERBS), chance.randrange(1, 3)
        hub.fault(kind, verb, "/comments", times=times)
        tried.faults.append(f"{verb} {kind} x{times}")
    return tried


def draft(text: str, *, day: int) -> CommentDraft:
    started = f"2026-03-0{day}T00:00:00+00:00"
    return CommentDraft(kit="19353", branch="releases/v0.30.0", device="ascend", run=text, started=started, text=text)


def publish(hub: StandIn, tried: Try, text: CommentDraft, *, recorded: int | None = None) -> None:
    """Refused is fine, twice is not."""
    place = CommentPlace(
        client=connect(hub), repo="example/project", number=PULL, draft=text, author=AUTHOR, recorded=recorded
    )
    try:
        tried.posted = place.carry_out(pause=0).id
    except GitHubError:
        tried.refused += 1


def settle(hub: StandIn) -> None:
    """The lists have caught up."""
    hub.world.hidden = dict.fromkeys(hub.world.hidden, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=1000)
    with serve() as hub:
        results = [attempt(hub, number) for number in range(parser.parse_args().tries)]
        violations = hub.violations
    return tell(results, violations)


def tell(results: list[Try], violations: list[str]) -> int:
    """Print a table; the last line counts."""
    kinds = Counter(tried.kind for tried in results)
    for kind, count in sorted(kinds.items()):
        print(f"{kind:<34} {count:>5}")
    for tried in results:
        if tried.left != 1:
            print(f"NOT ONE {tried}")
    twice = sum(tried.after_first > 1 and not tried.at_once for tried in results)
    print(
        f"publishes that were refused {sum(tried.refused for tried in results)}, tries with two comments in between {twice}"
    )
    bad = sum(tried.left != 1 for tried in results)
    print(f"tried {len(results)}, not one comment {bad}")
    return 0 if results and not bad and not violations else 1


if __name__ == "__main__":
    sys.exit(main())
