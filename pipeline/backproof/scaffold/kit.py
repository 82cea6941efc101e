"""Writes the files of a new kit, and says what is left to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.devices import DEVICES
from backproof.kit.plan import PLAN_FILE
from backproof.rundir.ledger import write_atomic
from backproof.scaffold.plan_text import OPERATORS, expected, plan_text
from backproof.scaffold.words import line

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backproof.scaffold.choices import Choices
    from backproof.scaffold.facts import Facts

_OPERATORS = '''"""CPU references of the device operators that the code calls, and stand-ins for what only a device host has.

Nothing is here yet: a call of a device operator is an error. See docs/emulator.md, and other kits for examples.
"""

from __future__ import annotations

from typing import Any

MODELS = {"plain": "no device operator is modelled"}
OPTIONS: dict[str, tuple[str, ...]] = {}
LIMITS: tuple[str, ...] = ()
MODULES: dict[str, dict[str, Any]] = {}
'''


@dataclass(frozen=True, kw_only=True, slots=True)
class Scaffold:
    """What was written, and what a person must fill in: key of the plan, and why it cannot be read."""

    folder: Path
    files: tuple[str, ...]
    to_fill: tuple[tuple[str, str], ...]


def identity(facts: Facts, choices: Choices) -> str:
    """The kit's id, by which its folder is called, too."""
    return choices.identity or facts.name


def write(facts: Facts, folder: Path, choices: Choices) -> Scaffold:
    """Write the kit.

    Raises:
        PlanError: the folder has a plan already, or there is nothing to pick.
    """
    if (folder / PLAN_FILE).exists():
        raise PlanError(
            f"{folder}: there is a kit already",
            why="plan.toml exists, and nothing of yours is written over",
            next_step="name another folder with --out",
        )
    if not facts.wanted:
        raise PlanError(
            f"{facts.source}: there is nothing to pick",
            why="all its commits cancel out or are merges",
            next_step="name the original pull request instead",
        )
    texts = {PLAN_FILE: plan_text(facts, choices), facts.check_file: check_text(facts)}
    if DEVICES[choices.device].OPERATOR_MODELS:
        texts[OPERATORS] = _OPERATORS
    for name, text in texts.items():
        write_atomic(folder / name, text.encode("utf-8", "backslashreplace"))
    return Scaffold(folder=folder, files=tuple(texts), to_fill=tuple(_to_fill(facts, choices)))


def _to_fill(facts: Facts, choices: Choices) -> Iterator[tuple[str, str]]:
    if not facts.repo:
        yield "upstream.repo", "owner/name of upstream, which the repository has no address of"
    if not facts.branch:
        yield "branch", "the release branches that want it"
    if not (facts.release.distribution or choices.distribution or facts.repo):
        yield "install.distribution", "what the package index calls it"
    if DEVICES[choices.device].OPERATOR_MODELS:
        yield "emulator.model.0.meaning", "what this model of the operators does, in one sentence"
    yield "check.0.claim", "what the check shows, in one sentence that stands in the comment"
    expect = f"check.0.expect.{expected(choices)}"
    yield f"{expect}.base", 'what the release shows without the fix: "fail" or "fault:<kind>"'
    yield f"{expect}.pick", "what it shows with the commits"
    yield f"{expect}.fixed", "what it shows with the fix-ups"


def check_text(facts: Facts) -> str:
    """A check that is red until it is written."""
    return (
        f'"""Runs in the target interpreter, once per arm: must be red on the release and green with the fix."""\n\n'
        f"# Tests that come with the fix or change, to take the cases from:\n{_listed(facts.tests)}"
        f"# Modules that it changes:\n{_listed(facts.modules)}\n"
        "import pytest\n\n\n"
        f"def test_{facts.name}() -> None:\n"
        '    pytest.fail("this check is not written yet")\n'
    )


def _listed(paths: tuple[str, ...]) -> str:
    return "".join(f"#   {line(each)}\n" for each in paths[:20]) or "#   none\n"
