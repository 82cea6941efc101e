"""Mutation of the core: `tox run -e mutation`. A change of the code that no test notices is named, or has a reason.

mutmut changes one thing at a time inside the functions that decide what Backproof says (`[tool.mutmut]` of
pyproject.toml names the modules) and runs the tests that call the function. What survives must stand in survivors.toml
with a reason. The last line counts; the exit code is 0 only when nothing is left unexplained.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parent.parent.parent
REASONS = Path(__file__).parent / "survivors.toml"
WORK = ROOT / ".mutation"
# mutmut finds modules in the current folder or in src/ and nowhere else, so it works in a copy in which they lie there.
COPIES = {"pipeline": "src", "tests": "tests", "patches": "patches", "reports": "reports"}
# mutmut's own words for how the tests ended: killed, stopped because they went on for too long.
KILLED = {1, 3, 36, 24, -24, 152, 255}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """One change: where it is, how the tests of its function ended (None: not run), and its changed lines."""

    name: str
    module: str
    code: int | None
    change: str = ""

    @property
    def function(self) -> str:
        """Its function's dotted name. mutmut writes x_f__mutmut_1, and xǁClassǁmethod__mutmut_1 for methods."""
        module, _, mangled = self.name.rpartition(".")
        plain = re.sub(r"__mutmut_\d+$", "", mangled)
        return f"{module}.{plain.removeprefix('xǁ').replace('ǁ', '.')}" if "ǁ" in plain else f"{module}.{plain[2:]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """Why changes like this one are left: a glob of functions, and what their changed lines look like."""

    function: str
    change: re.Pattern[str]
    reason: str

    def fits(self, mutant: Mutant) -> bool:
        return fnmatch.fnmatchcase(mutant.function, self.function) and self.change.search(mutant.change) is not None


def main() -> int:
    lay_out(WORK)
    command = ["mutmut", "run", "--max-children", "2", *sys.argv[1:]]
    # Its progress is one line that is written over again and again: in a file it would be megabytes.
    quiet = None if sys.stdout.isatty() else subprocess.PIPE
    ran = subprocess.run(command, cwd=WORK, check=False, stdout=quiet, stderr=subprocess.STDOUT, text=True)
    if ran.returncode:
        print((ran.stdout or "")[-4000:])
        print(f"mutmut ended with {ran.returncode}: the tests must pass before anything is changed")
        return 1
    return told(list(mutants(WORK / "mutants")), reasons(REASONS), whole=not sys.argv[1:])


def lay_out(work: Path) -> None:
    """Copy the checkout; files keep their times and what mutmut knows of them stays, so that a second call is short."""
    work.mkdir(exist_ok=True)
    shutil.copy2(ROOT / "pyproject.toml", work)
    for name, place in COPIES.items():
        shutil.rmtree(work / place, ignore_errors=True)
        shutil.copytree(ROOT / name, work / place, ignore=shutil.ignore_patterns("__pycache__"))


def mutants(folder: Path) -> Iterator[Mutant]:
    """All mutants that were tried, with their changed lines where they were not killed."""
    for meta in sorted(folder.rglob("*.py.meta")):
        module = str(meta.relative_to(folder)).removeprefix("src/").removesuffix(".meta")
        for name, code in json.loads(meta.read_text("utf-8"))["exit_code_by_key"].items():
            change = "" if code in KILLED or code is None else _change(name)
            yield Mutant(name=name, module=module, code=code, change=change)


def _change(name: str) -> str:
    shown = subprocess.run(["mutmut", "show", name], cwd=WORK, check=True, capture_output=True, text=True).stdout
    lines = [line for line in shown.splitlines() if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    return "\n".join(line[0] + line[1:].strip() for line in lines)


def reasons(file: Path) -> tuple[Reason, ...]:
    listed = tomllib.loads(file.read_text("utf-8"))["survivor"]
    return tuple(
        Reason(function=each["function"], change=re.compile(each["change"]), reason=each["reason"]) for each in listed
    )


def told(found: list[Mutant], known: Iterable[Reason], *, whole: bool) -> int:
    """Print the table and the last line.

    Args:
        whole: every mutant was meant to run, so one that did not, or a reason without a mutant, counts as well.
    """
    known = tuple(known)
    alive = [each for each in found if each.change]
    unexplained = [each for each in alive if not any(reason.fits(each) for reason in known)]
    idle = [reason for reason in known if not any(reason.fits(each) for each in alive)] if whole else []
    missed = [each for each in found if each.code is None] if whole else []
    for each in unexplained:
        print(f"\nSURVIVED {each.name} (in {each.function}, ended with {each.code})\n{each.change}")
    for reason in idle:
        print(f"\nno mutant left for the reason: {reason.function}: {reason.change.pattern}")
    _table(found, alive, unexplained)
    killed = sum(each.code in KILLED for each in found)
    print(
        f"mutants {len(found)}, killed {killed}, survived with a reason {len(alive) - len(unexplained)}, "
        f"unexplained {len(unexplained)}, not run {len(missed)}, reasons without a mutant {len(idle)}"
    )
    return 0 if killed and not (unexplained or idle or missed) else 1


def _table(found: list[Mutant], alive: list[Mutant], unexplained: list[Mutant]) -> None:
    groups = [Counter(each.module for each in group) for group in (found, alive, unexplained)]
    print(f"\n{'module':<34} {'mutants':>8} {'survived':>9} {'unexplained':>12}")
    for module in sorted(groups[0]):
        print(f"{module:<34} {groups[0][module]:>8} {groups[1][module]:>9} {groups[2][module]:>12}")


if __name__ == "__main__":
    sys.exit(main())
