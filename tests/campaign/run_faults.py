"""The fault campaign: `tox run -e faults`. Whatever happens to a run, the next command finds everything as it was.

Every point of a real run (see points.py) of a real backport (plain_job.py) is met by faults, each in a process of its
own; after each, the same command runs again and everything is looked at (attempt.py). Every distinct point is met by
SIGKILL, one of each stage and kind of operation by every other fault: some 650 tries, and what beside.py has. `--limit N`
takes a fair part of them; `--all` meets every distinct point with every fault, some 2,400, which takes hours. What
cannot be tried here is said, and not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import TextIO

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "support")]

import attempt
import backproof.commands.run  # noqa: F401 - what the forks have in common
import beside
import choose
from attempt import Bench, Troubles
from plain_job import make_job


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="backproof-faults-") as name:
        folder = Path(name).resolve()
        tries = choose.chosen(attempt.recorded(first := bench(folder / "0"), first.job.arguments()), options)
        print(f"{len(tries)} tries, {options.workers} at once", flush=True)
        results = _all(folder, tries, options.workers)
    return _told(results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every distinct point with every fault")
    parser.add_argument("--limit", type=int, default=0, help="at most so many points of a run, a fair part; 0: all")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="a part of a fault's name")
    return parser.parse_args()


def bench(folder: Path) -> Bench:
    """A job of its own: release, upstream, kit, environment."""
    job = make_job(folder)
    env = job.environment(TMPDIR=str(job.folder / "tmp"), GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")
    env = {name: value for name, value in env.items() if not name.startswith(("BACKPROOF_", "GITHUB_"))}
    made = Bench(job=job, before=job.outside(), env=env)
    attempt.fresh(made)
    return made


def _all(folder: Path, tries: list[choose.Try], workers: int) -> list[dict[str, str]]:
    """The tries, dealt out to processes that each have a job of their own; what only one does goes to the first."""
    files = [folder / f"results-{each}.jsonl" for each in range(workers)]
    children = [
        _worker(folder / f"worker-{index}", tries[index::workers], file, extra=index == 0)
        for index, file in enumerate(files)
    ]
    ended = [os.waitpid(child, 0)[1] for child in children]
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    # A worker that is gone has not tried what it was dealt: the last line must not look like a whole campaign.
    return [*rows, *(_row("-", "campaign", "", "a worker died") for status in ended if status)]


def _row(stage: str, fault: str, where: str, trouble: str, *, met: bool = True) -> dict[str, str]:
    return {"stage": stage, "fault": fault, "where": where, "trouble": trouble, "met": "yes" if met else ""}


def _worker(folder: Path, tries: list[choose.Try], file: Path, *, extra: bool) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        with file.open("w", encoding="utf-8") as stream:
            _work(folder, tries, stream, extra=extra)
        code = 0
    except BaseException:  # noqa: BLE001 - the caller counts it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _work(folder: Path, tries: list[choose.Try], stream: TextIO, *, extra: bool) -> None:
    made = bench(folder)
    for each in tries:
        made = _intact(made)
        _note(stream, each.point.stage, each.fault, each.where, _tried(made, each))
    for rows in beside.ALL if extra else ():
        made = _intact(made)
        for row in rows(made):
            _note(stream, *row)


def _tried(made: Bench, each: choose.Try) -> Troubles:
    attempt.fresh(made)
    return attempt.struck(made, made.job.arguments(), (each.point, each.count), choose.FAULTS[each.fault])


def _intact(made: Bench) -> Bench:
    """What one try spoiled must not count against the next."""
    if made.job.outside() == made.before:
        return made
    shutil.rmtree(made.job.folder)
    return bench(made.job.folder)


def _note(stream: TextIO, stage: str, fault: str, where: str, troubles: Troubles) -> None:
    trouble = "; ".join(troubles.found)
    stream.write(json.dumps(_row(stage, fault, where, trouble, met=troubles.met)) + "\n")
    stream.flush()
    if trouble:
        print(f"NOT SURVIVED {stage}: {fault} at {where}: {trouble[:1500]}", flush=True)


def _told(results: list[dict[str, str]]) -> int:
    for each in [each for each in results if not each["met"]]:
        # Some operations depend on the second in which a file was made; a run without them was not put to the test.
        print(f"not met, not counted: {each['stage']}: {each['fault']} at {each['where']}")
    results = [each for each in results if each["met"] or each["trouble"]]
    tried = Counter((each["stage"], each["fault"]) for each in results)
    survived = Counter((each["stage"], each["fault"]) for each in results if not each["trouble"])
    stages = list(dict.fromkeys(each["stage"] for each in results))
    print(f"\n{'stage':<10} {'fault':<26} {'tried':>6} {'survived':>9}")
    for stage, fault in sorted(tried, key=lambda each: (stages.index(each[0]), each[1])):
        print(f"{stage:<10} {fault:<26} {tried[stage, fault]:>6} {survived[stage, fault]:>9}")
    print(f"tried {tried.total()}, survived {survived.total()}")
    return 0 if tried.total() == survived.total() > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
