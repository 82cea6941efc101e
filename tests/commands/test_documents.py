"""Each command of the pages is one that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest
from checkout import ROOT

from tests.workflows.test_workflow import parse

DOCS = ROOT / "docs"
LINES = [
    (page, line)
    for page in ("publish.md", "action.md")
    for line in re.findall(r"^backproof .*|(?<=`)backproof [^`]+(?=`)", (DOCS / page).read_text(), re.MULTILINE)
    if " " in line and len(line.split()) > 2
]


def test_there_are_commands() -> None:
    assert len(LINES) > 8


@pytest.mark.parametrize(("page", "line"), LINES)
def test_the_command_parses(page: str, line: str) -> None:
    parse(shlex.split(line, comments=True)[1:])
