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
from backproof.cli import COMMANDS, cli

if TYPE_CHECKING:
    from repositories import Repository

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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_imports_nothing_that_takes_long(name: str) -> None:
    assert imported(name, "--help") & HEAVY == set()


def test_a_survey_imports_neither_libcst_nor_github(upstream: Repository) -> None:
    fix = upstream.git("rev-parse", "HEAD")
    modules = imported("survey", fix, "--repo", str(upstream.folder), "--branches", "main", "--json")
    assert "git" in modules
    assert not modules & {"libcst", "github", "httpx", "jinja2"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_says_of_a_command_what_the_command_says_of_itself(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert COMMANDS[name][1] == command.get_short_help_str(limit=400)
