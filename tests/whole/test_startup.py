"""The start of a command: the help imports no command, and a command's own help nothing that takes long to import."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import backproof
import click
import pytest
from backproof.cli import COMMANDS, cli, read_summary
from checkout import all_commands
from click.testing import CliRunner

if TYPE_CHECKING:
    from repositories import Repository

GROUPS = sorted({path[:size] for path, _ in all_commands() for size in range(1, len(path))})
HEAVY = {"git", "github", "httpx", "jinja2", "libcst", "pydantic", "re2", "rich"}
"""Packages that take 20 ms or more each."""


def imported(*args: str, code: int = 0) -> set[str]:
    """The modules that the command imports."""
    command = [sys.executable, "-X", "importtime", "-m", "backproof", *args]
    # The package that this process has, wherever it is installed.
    env = {**os.environ, "PYTHONPATH": str(Path(backproof.__file__).parents[1])}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    modules = set(re.findall(r"^import time:.*\| +([\w.]+)$", done.stderr, flags=re.MULTILINE))
    assert "backproof.cli" in modules
    return modules


def test_the_help_imports_no_command_and_nothing_that_takes_long() -> None:
    modules = imported("--help")
    assert not modules & HEAVY
    assert not [name for name in modules if name.startswith("backproof.commands")]


@pytest.mark.parametrize("words", [path for path, _ in all_commands()], ids=" ".join)
def test_the_help_of_a_command_imports_nothing_that_takes_long(words: tuple[str, ...]) -> None:
    assert imported(*words, "--help") & HEAVY == set()


def test_a_survey_imports_neither_libcst_nor_github(upstream: Repository) -> None:
    fix = upstream.git("rev-parse", "HEAD")
    modules = imported("history", "survey", fix, "--repo", str(upstream.folder), "--branches", "main", "--json")
    assert "git" in modules
    assert not modules & {"libcst", "github", "httpx", "jinja2"}


def test_the_help_says_of_a_command_what_the_command_says_of_itself() -> None:
    for name, place in COMMANDS.items():
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        assert command.name == name
        assert read_summary(place) == command.get_short_help_str(limit=400), name


@pytest.mark.parametrize("words", [(), *GROUPS], ids=lambda words: " ".join(("backproof", *words)))
def test_the_help_of_a_group_has_the_whole_first_sentence_of_each_command(words: tuple[str, ...]) -> None:
    text = " ".join(CliRunner().invoke(cli, [*words, "--help"], terminal_width=80).output.split())
    listed = [command for path, command in all_commands() if path[:-1] == words]
    assert all(command.get_short_help_str(limit=400) in text for command in listed)
