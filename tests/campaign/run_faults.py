"""The fault campaign: `tox run -e faults`. Whatever happens to a run, the next command finds everything as it was.

Every point of a real run (see points.py) of a real backport (plain_job.py) is met by faults, each in a process of its
own; after each, the same command runs again and everything is looked at (attempt.py). By default every distinct point is
met by SIGKILL, and one point of each stage and kind of operation by every other fault: about 15 minutes of two processes.
`--all` meets every distinct point with every fault: hours. What cannot be tried here is said and not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parent.parent),
    str(Path(__file__).parent.parent / "github"),
]

import attempt
import contract
import points
import small_disk
from attempt import Bench, Fault, Troubles
from plain_job import make_job

import pipeline.commands.run  # noqa: F401 - what the forks have in common

FAULTS: dict[str, Fault] = {
    "SIGKILL": points.killed,
    "SIGKILL during": points.killed_soon,
    "SIGTERM": points.terminated,
    "ENOSPC (stand-in)": points.full,
    "EIO (stand-in)": points.broken,
    "clock back (stand-in)": points.stepped_back,
    "second run": points.second_run,
    "second run, same target": points.second_run_elsewhere,
}


@dataclass(frozen=True, kw_only=True)
class Try:
    """One thing to try."""

    fault: str
    point: points.Point
    count: int = 0


Row = tuple[str, str, str, Troubles]


def main() -> int:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="backproof-faults-") as name:
        folder = Path(name).resolve()
        tries = _chosen(attempt.recorded(first := bench(folder / "0"), first.job.arguments()), options)
        print(f"{len(tries)} tries, {options.workers} at once", flush=True)
        results = _all(folder, tries, options.workers)
    return _told(results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every distinct point with every fault")
    parser.add_argument("--limit", type=int, default=0, help="at most so many tries on run, chosen evenly")
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


def _chosen(met: list[points.Point], options: argparse.Namespace) -> list[Try]:
    """Each distinct point once; one in site-packages as often as it is met, for each time another arm is in place."""
    seen: Counter[points.Point] = Counter()
    tries: list[Try] = []
    kinds: set[tuple[str, str, str]] = set()
    for point in met:
        count = seen[point]
        seen[point] += 1
        if count == 0 or "site-packages" in point.path:
            tries += [
                Try(fault=name, point=point, count=count)
                for name in FAULTS
                if _fits(name, point) and (options.all or name == "SIGKILL" or _new(kinds, name, point))
            ]
    tries = [each for each in tries if options.only in each.fault]
    random.Random(19353).shuffle(tries)  # noqa: S311 - a repeatable order, so that a limit is a fair part
    return tries[: options.limit] if options.limit else tries


def _new(kinds: set[tuple[str, str, str]], name: str, point: points.Point) -> bool:
    key = (name, point.stage, point.event)
    fresh = key not in kinds
    kinds.add(key)
    return fresh


def _fits(name: str, point: points.Point) -> bool:
    starts = point.event == "subprocess.Popen"
    if name == "SIGKILL during":
        return starts
    if "ENOSPC" in name:
        return point.event in points.GROWS
    return not starts if "EIO" in name else True


def _all(folder: Path, tries: list[Try], workers: int) -> list[dict[str, str]]:
    """The tries, dealt out to processes that each have a job of their own; what only one does goes to the first."""
    files = [folder / f"results-{each}.jsonl" for each in range(workers)]
    children = [
        _worker(folder / f"worker-{index}", tries[index::workers], file, extra=index == 0)
        for index, file in enumerate(files)
    ]
    for child in children:
        os.waitpid(child, 0)
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def _worker(folder: Path, tries: list[Try], file: Path, *, extra: bool) -> int:
    child = os.fork()
    if child:
        return child
    try:
        with file.open("w", encoding="utf-8") as stream:
            made = bench(folder)
            for each in tries:
                made = _intact(made)
                where = f"{each.point.event} {each.point.path} #{each.count}"
                _note(stream, each.point.stage, each.fault, where, _tried(made, each))
            for beside in BESIDE if extra else ():
                made = _intact(made)
                for row in beside(made):
                    _note(stream, *row)
    except BaseException:  # noqa: BLE001 - a worker that dies must not look like one that is done
        traceback.print_exc()
        file.write_text(
            json.dumps({"stage": "-", "fault": "campaign", "where": "", "trouble": "a worker died", "met": "yes"})
            + "\n"
        )
    finally:
        sys.stdout.flush()
        os._exit(0)


def _on_small_disks(made: Bench) -> Iterator[Row]:
    attempt.fresh(made)
    attempt.command(made, made.job.arguments())
    whole = small_disk.needed(made)
    with small_disk.mounted(made.job.folder / small_disk.DISK) as refused:
        if refused:
            print(f"skipped, not counted: a full disk that is real: it cannot be mounted here: {refused}", flush=True)
            return
        for part in small_disk.PARTS:
            yield "any", "ENOSPC (small disk)", f"{part} % of the space", small_disk.tried(made, part, whole)


def _publishing(made: Bench) -> Iterator[Row]:
    try:
        from publishing import REPLIES, again, answered, argv, hub, keep, struck

        contract.rest()
        contract.graph()
    except (ImportError, OSError, AssertionError, subprocess.SubprocessError) as error:
        print(f"skipped, not counted: publishing: GitHub's published contract is not here: {error}", flush=True)
        return
    with hub(made) as (stand_in, there):
        kept = keep(there)
        met = attempt.recorded(there, argv(there), stage="publish")
        for each in _every(met):
            again(stand_in, there, kept)
            where = f"{each.point.event} {each.point.path} #{each.count}"
            yield "publish", each.fault, where, struck(stand_in, there, (each.point, each.count), FAULTS[each.fault])
        for kind in REPLIES:
            again(stand_in, there, kept)
            yield "publish", f"reply: {kind}", "POST comment", answered(stand_in, there, kind)


def _every(met: list[points.Point]) -> list[Try]:
    """Every operation of a publish with SIGKILL, one of each kind with every other fault."""
    seen: Counter[points.Point] = Counter()
    kinds: set[tuple[str, str, str]] = set()
    tries: list[Try] = []
    for point in met:
        names = [name for name in FAULTS if _fits(name, point) and "target" not in name and "clock" not in name]
        names = [name for name in names if name == "SIGKILL" or _new(kinds, name, point)]
        tries += [Try(fault=name, point=point, count=seen[point]) for name in names]
        seen[point] += 1
    return tries


BESIDE: tuple[Callable[[Bench], Iterator[Row]], ...] = (_on_small_disks, _publishing)


def _tried(made: Bench, each: Try) -> Troubles:
    attempt.fresh(made)
    return attempt.struck(made, made.job.arguments(), (each.point, each.count), FAULTS[each.fault])


def _intact(made: Bench) -> Bench:
    """What one try spoiled must not count against the next."""
    if made.job.outside() == made.before:
        return made
    shutil.rmtree(made.job.folder)
    return bench(made.job.folder)


def _note(stream: TextIO, stage: str, fault: str, where: str, troubles: Troubles) -> None:
    trouble = "; ".join(troubles.found)
    row = {"stage": stage, "fault": fault, "where": where, "trouble": trouble, "met": "yes" if troubles.met else ""}
    stream.write(json.dumps(row) + "\n")
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
