"""Each command of the pages is one that the command line takes."""

from __future__ import annotations

import re
import shlex

import pytest
from checkout import ROOT, all_commands

from tests.workflows.test_workflow import parse

DOCS = ROOT / "docs"
GROUPS = {words[0] for words, _ in all_commands() if len(words) > 1}
"""A command of these alone is a mention, without its arguments."""
LINES = [
    (page, line)
    for page in ("publish.md", "action.md")
    for line in re.findall(r"^backproof .*|(?<=`)backproof [^`]+(?=`)", (DOCS / page).read_text(), re.MULTILINE)
    if len(line.split()) > 3 or (len(line.split()) == 3 and line.split()[1] not in GROUPS)
]


def test_there_are_commands() -> None:
    assert len(LINES) > 8


@pytest.mark.parametrize(("page", "line"), LINES)
def test_the_command_parses(page: str, line: str) -> None:
    parse(shlex.split(line, comments=True)[1:])
