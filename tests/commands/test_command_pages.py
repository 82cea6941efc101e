"""The pages of the commands are those that the commands would make now."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
from backproof.cli import COMMANDS, cli
from checkout import ROOT
from click.testing import CliRunner

DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "generate_commands.py"))


def test_the_pages_are_current(script: dict[str, Any]) -> None:
    there = {each.name: each.read_text(encoding="utf-8") for each in (DOCS / "commands").glob("*.md")}
    assert there == script["pages"](), "run python docs/generate_commands.py"


def test_every_command_has_a_page_with_its_options(script: dict[str, Any]) -> None:
    made = script["pages"]()
    assert {f"{name}.md" for name in script["COMMANDS"]} < set(made)
    assert "--branch" in made["run.md"]
    assert "# backproof plan check" in made["plan.md"]


def test_the_help_lists_every_command_with_its_whole_first_sentence() -> None:
    text = CliRunner(env={"COLUMNS": "80"}).invoke(cli, ["--help"]).stdout
    assert all(f"\n  {name} " in text for name in COMMANDS)
    assert "..." not in text.replace("[ARGS]...", "")
