"""Writes the files of a new kit, and lists what is left to a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from backproof.core.errors import PlanError
from backproof.core.plain_text import one_line
from backproof.devices import DEVICES
from backproof.kit.plan import PLAN_FILE
from backproof.rundir.ledger import write_atomic
from backproof.scaffold.plan_text import OPERATORS, build_plan_text, name_expectation

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
    """The files written, and what a person must fill in: a key of the plan, and the reason."""

    folder: Path
    files: tuple[str, ...]
    to_fill: tuple[tuple[str, str], ...]


def choose_identity(facts: Facts, choices: Choices) -> str:
    """Return the kit's id, which is the name of its folder, too."""
    return choices.identity or facts.name


def write_kit(facts: Facts, folder: Path, choices: Choices) -> Scaffold:
    """Write the kit.

    Raises:
        PlanError: the folder has a plan already, or there is nothing to pick.
    """
    if (folder / PLAN_FILE).exists():
        raise PlanError(
            f"{folder}: a kit exists there already",
            why="plan.toml exists, and no file of yours is overwritten",
            next_step="name another folder with --out",
        )
    if not facts.wanted:
        raise PlanError(
            f"{facts.source}: nothing to pick",
            why="all its commits cancel out or are merges",
            next_step="name the original pull request instead",
        )
    texts = {PLAN_FILE: build_plan_text(facts, choices), facts.check_file: build_check_text(facts)}
    if DEVICES[choices.device].TRAITS.operator_models:
        texts[OPERATORS] = _OPERATORS
    for name, text in texts.items():
        write_atomic(folder / name, text.encode("utf-8", "backslashreplace"))
    return Scaffold(folder=folder, files=tuple(texts), to_fill=tuple(_list_gaps(facts, choices)))


def _list_gaps(facts: Facts, choices: Choices) -> Iterator[tuple[str, str]]:
    if not facts.repo:
        yield "upstream.repo", "owner/name of upstream: the repository has no address of it"
    if not facts.branch:
        yield "branch", "the release branches that want it"
    if not (facts.release.distribution or choices.distribution or facts.repo):
        yield "install.distribution", "its name on the package index"
    if DEVICES[choices.device].TRAITS.operator_models:
        yield "emulator.model.0.meaning", "the behaviour of this model of the operators, in one sentence"
    yield "check.0.claim", "the claim that the check shows, in one sentence for the comment"
    expect = f"check.0.expect.{name_expectation(choices)}"
    yield f"{expect}.base", 'the result on the release without the fix: "fail" or "fault:<kind>"'
    yield f"{expect}.pick", "the result with the commits"
    yield f"{expect}.fixed", "the result with the fix-ups"


def build_check_text(facts: Facts) -> str:
    """Return a check that is red until somebody writes it."""
    return (
        f'"""Runs in the target interpreter, once per arm: must be red on the release and green with the fix."""\n\n'
        f"# Tests that come with the fix or change, to take the cases from:\n{_format_paths(facts.tests)}"
        f"# Modules that it changes:\n{_format_paths(facts.modules)}\n"
        "import pytest\n\n\n"
        f"def test_{facts.name}() -> None:\n"
        '    pytest.fail("this check is not written yet")\n'
    )


def _format_paths(paths: tuple[str, ...]) -> str:
    return "".join(f"#   {one_line(path)}\n" for path in paths[:20]) or "#   none\n"
