"""The adversary campaign: `tox run -e adversary`. Nothing that is done to a run makes it claim what was not shown.

One table of attempts (the modules in ATTEMPTS): what is done, and what must be said. Each is made on a real run of a real
backport, from outside: by files and by the command line. The last line is `tried N, held N`; the exit code is 0 only when
both numbers are equal. `--program` meets another version with the same table; `--row N` makes the attempts of one row.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent / "support")]

from scene import Attempt, Scene, reset_scene, set_scene

ATTEMPTS = ("subject_attempts", "result_attempts", "check_attempts", "target_attempts", "text_attempts")
"""The modules of the table; each has a tuple ATTEMPTS. A row is added by attempts in one of them, or in one more."""


def main() -> int:
    options = _read_options()
    table = [attempt for attempt in list_attempts() if options.row in {0, attempt.row} and options.only in attempt.name]
    troubles: dict[Attempt, str] = {}
    with tempfile.TemporaryDirectory(prefix="backproof-adversary-") as name:
        scene = set_scene(Path(name).resolve(), options.program)
        for attempt in table:
            troubles[attempt] = make_attempt(scene, attempt)
            _print_attempt(attempt, troubles[attempt], quiet=options.quiet)
    return print_count(troubles)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", type=int, default=0, help="only the attempts of this row; 0: all")
    parser.add_argument("--only", default="", help="a part of an attempt's name")
    parser.add_argument(
        "--program", default=str(Path(sys.executable).with_name("backproof")), help="the one that is met"
    )
    parser.add_argument("--quiet", action="store_true", help="only what did not hold, and the count")
    return parser.parse_args()


def list_attempts() -> list[Attempt]:
    """Return the whole table, row by row."""
    attempts = [attempt for name in ATTEMPTS for attempt in importlib.import_module(name).ATTEMPTS]
    return sorted(attempts, key=lambda attempt: attempt.row)


def make_attempt(scene: Scene, attempt: Attempt) -> str:
    """Make one attempt on the scene as it was set; returns what did not hold."""
    reset_scene(scene)
    try:
        return attempt.find_trouble(attempt.act(scene))
    except Exception:  # noqa: BLE001 - an attempt that could not be made is none that held
        return f"could not be made: {traceback.format_exc()[-600:]}"


def _print_attempt(attempt: Attempt, trouble: str, *, quiet: bool) -> None:
    if trouble or not quiet:
        print(f"{'BROKEN' if trouble else 'held  '} {attempt.row:2} {attempt.name}", flush=True)
    if trouble:
        print(f"          {trouble}", flush=True)


def print_count(troubles: dict[Attempt, str]) -> int:
    """Print the rows and the sum; returns the exit code."""
    tried, held = Counter(attempt.row for attempt in troubles), Counter[int]()
    held.update(attempt.row for attempt, trouble in troubles.items() if not trouble)
    for row in sorted(tried):
        print(f"row {row:2}: tried {tried[row]}, held {held[row]}")
    print(f"tried {tried.total()}, held {held.total()}")
    return 0 if troubles and tried == held else 1


if __name__ == "__main__":
    sys.exit(main())
