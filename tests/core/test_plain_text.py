"""Hostile text where it is only text: for a reader, on a terminal, in a log of Actions, as JSON."""

from __future__ import annotations

import json
import re

import pytest
from backproof.core.plain_text import JOINER, cut_text, dump_json, escape_line, escape_text, strip_controls
from hostile_text import HOSTILE
from hypothesis import example, given
from hypothesis import strategies as st

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
# What .NET takes for white space at the start of a line; Actions trims it before it looks for a command.
COMMAND = re.compile("^[\\s\xa0\u2000-\u200a\u3000]*::|##\\[", re.MULTILINE)
COMMANDS = st.text(st.sampled_from(list(":#[ \t\n\r\x0b\x85\u2028\u3000\u2060\x1bm0a")))
ANY = st.one_of(HOSTILE, COMMANDS)


@given(HOSTILE)
def test_plain_has_nothing_unseen_and_is_stable(text: str) -> None:
    once = strip_controls(text)
    assert once == strip_controls(once)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\ud800-\udfff]", once)
    once.encode()


def test_ansi_goes_whole() -> None:
    assert strip_controls("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07") == "red link"


@given(ANY)
@example("::error::one\n ::two::\r\u3000::three\x85##[group]four")
def test_escaped_text_is_no_control_and_no_command(text: str) -> None:
    for escaped in (escape_text(text), escape_line(text)):
        assert not UNSEEN.search(escaped)
        assert not COMMAND.search(escaped)
    assert "\n" not in escape_line(text)


def test_what_is_harmless_stays_as_it_was() -> None:
    text = f"  pkg::name  at a.py::test\n\tmention @{JOINER}ann"
    assert escape_text(text) == text
    assert escape_line("  two  spaces\n    more") == "  two  spaces more"


@given(ANY)
@example("\x7f\xad")
@example("\U000e0001\U0001f600 \u3000中\u202e\x9b##[group]")
def test_json_keeps_its_value_and_shows_no_control(text: str) -> None:
    dumped = dump_json({text: [text]})
    assert not UNSEEN.search(dumped)
    assert not COMMAND.search(dumped)
    assert json.loads(dumped) == {text: [text]}


def test_json_is_readable() -> None:
    assert dump_json({"a": "中文 é"}) == '{\n  "a": "中文 é"\n}'


@pytest.mark.parametrize(("text", "limit", "expected"), [("abc", 3, "abc"), ("abcd", 3, "abc … (1 more characters)")])
def test_a_cut_is_said(text: str, limit: int, expected: str) -> None:
    assert cut_text(text, limit) == expected
