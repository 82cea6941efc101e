"""Side by side with ascend-fd (Ascend/mind-cluster) on the samples of tests/triage/samples.

    python bench/ascend_fd.py CHECKOUT --python PYTHON

CHECKOUT is a work tree of Ascend/mind-cluster; PYTHON an interpreter with ply, pandas and numpy. Both programs get the same files:
ascend-fd as its arguments want them, logs of processes and devices by their names, every other file also as a training log.

An answer is right if it points at the first fault: for triage file and line (or an answer that the sample accepts); for ascend-fd, which names lines
by their text, if the key lines of the fault that it ranks first hold the line of the first fault or a detail of it. `later` means that one of its
other faults does. Where nothing is to be found, or the sample accepts that, its "normal or unsupported" is right.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof.triage import triage

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = Path(__file__).parents[1] / "tests" / "triage" / "samples"
SOURCE = Path("component", "ascend-faultdiag", "src")
ORDER = ("right", "later", "wrong", "nothing")
_SHORTEST = 16  # characters: less is no line that could be told from another


def run_peer(python: str, checkout: Path, sample: Path, room: Path) -> list[dict[str, Any]]:
    """Return the faults that ascend-fd names, best first."""
    logs, parsed, out = room / "worker-0", room / "parsed" / "worker-0", room / "diag"
    shutil.copytree(sample, logs, ignore=shutil.ignore_patterns("expect.json"))
    parsed.mkdir(parents=True)
    out.mkdir()
    others = [
        path for path in sorted(logs.rglob("*")) if path.is_file() and not path.name.startswith(("plog-", "device-"))
    ]
    folders = [part for name in ("process", "device", "host", "mindie") for part in (f"--{name}_log", str(logs))]
    texts = ["--train_log", *map(str, others)] if others else []
    for argv in (
        ["parse", "-i", logs, "-o", parsed, *folders, *texts],
        ["diag", "-i", room / "parsed", "-o", out],
    ):
        _call(python, checkout, room, list(map(str, argv)))
    report = json.loads((out / "fault_diag_result" / "diag_report.json").read_text("utf-8"))
    return [fault for fault in report["Knowledge_Graph"]["fault"] if fault["code"] != "NORMAL_OR_UNSUPPORTED"]


def _call(python: str, checkout: Path, room: Path, argv: list[str]) -> None:
    places = {"PYTHONPATH": str(checkout / SOURCE), "HOME": str(room), "ASCEND_FD_HOME_PATH": str(room)}
    command = [python, "-c", "from ascend_fd.cli import main; main()", *argv]
    subprocess.run(command, env=os.environ | places, capture_output=True, timeout=300, check=False)


def judge_peer(faults: list[dict[str, Any]], expected: dict[str, Any], sample: Path) -> str:
    if not faults:
        return "right" if any(first is None for first in list_firsts(expected)) else "nothing"
    wanted = [line for line in _read_wanted(expected, sample) if len(line) >= _SHORTEST]
    hits = [_points_at(fault, wanted) for fault in faults]
    return "right" if hits[0] else "later" if any(hits) else "wrong"


def _read_wanted(expected: dict[str, Any], sample: Path) -> Iterator[str]:
    """Return the texts of the lines that are the first fault or describe it."""
    firsts = [first for first in list_firsts(expected) if first]
    places = {f"{first['file']}:{first['line']}" for first in firsts} | set(expected["scene_lines"])
    for file, _, number in (place.rpartition(":") for place in places):
        if (sample / file).is_file():  # one in an archive cannot be pointed at by what reads no archives
            yield _fold((sample / file).read_bytes().decode("utf-8", "replace").split("\n")[int(number) - 1])


def _points_at(fault: dict[str, Any], wanted: list[str]) -> bool:
    texts = [event["key_info"] for events in fault["event_attr"].values() for event in events]
    lines = [_fold(line) for text in texts for line in text.split("\n")]
    return any(line in other or other in line for line in lines if len(line) >= _SHORTEST for other in wanted)


def _fold(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


def judge_ours(expected: dict[str, Any], sample: Path) -> str:
    result = triage([sample])
    place = result.first_fault or result.earliest_error
    if place is None:
        return "right" if None in list(list_firsts(expected)) else "nothing"
    label = re.sub(r".*\.(?:zip|tar|tar\.gz)/", "", place.file)
    answers = [(first["file"], first["line"]) for first in list_firsts(expected) if first]
    return "right" if (label, place.line) in answers else "wrong"


def list_firsts(expected: dict[str, Any]) -> Iterator[dict[str, Any] | None]:
    """Return the first fault that is wanted, and others that are right, too."""
    first = expected["first_scene"]
    yield first
    for other in expected.get("accept", ()):
        yield other["first_scene"] if "first_scene" in other else first | other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--python", required=True)
    options = parser.parse_args()
    version = options.checkout / SOURCE / "ascend_fd" / "Version.info"
    if not version.exists():  # a build writes it, and nothing starts without it
        version.write_text("source\nunknown\n", encoding="utf-8")
    pairs: Counter[tuple[str, str]] = Counter()
    print("| sample | ascend-fd | triage | ascend-fd's first |\n| --- | --- | --- | --- |")
    for sample in sorted(SAMPLES.iterdir()):
        expected = json.loads((sample / "expect.json").read_text("utf-8"))
        with tempfile.TemporaryDirectory(prefix="backproof-bench-") as room:
            faults = run_peer(options.python, options.checkout, sample, Path(room))
        pair = judge_peer(faults, expected, sample), judge_ours(expected, sample)
        pairs[pair] += 1
        print(f"| {sample.name} | {pair[0]} | {pair[1]} | {faults[0]['code'] if faults else ''} |", flush=True)
    better = sum(count for (theirs, ours), count in pairs.items() if ORDER.index(ours) < ORDER.index(theirs))
    worse = sum(count for (theirs, ours), count in pairs.items() if ORDER.index(ours) > ORDER.index(theirs))
    print(
        f"\ntriage is better on {better}, the same on {pairs.total() - better - worse}, worse on {worse} of {pairs.total()}"
    )


if __name__ == "__main__":
    main()
