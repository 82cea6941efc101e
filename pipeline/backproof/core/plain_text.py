"""Text from outside as text alone: for a reader, a terminal, a log of GitHub Actions, a list of names.

Titles, log lines and paths are hostile until proven otherwise: a terminal code moves the cursor, a direction mark shows
another order of letters, and a line of a job's log can be a command.
"""

from __future__ import annotations

import json
import re
import unicodedata
from itertools import islice
from typing import Any

JOINER = "\u2060"
"""Breaks a mention or a reference in Markdown (see `core.escape`); a terminal shows nothing for it."""
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)"  # titles, links
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Cn"})
"""Unicode categories that are not shown: controls, joiners and direction marks, surrogates, no characters at all."""
# A line that starts so is a command of Actions; the older form counts anywhere in a line:
# https://github.com/actions/runner/blob/v2.329.0/src/Runner.Common/ActionCommand.cs
_COMMAND = re.compile(r"^(\s*:)(?=:)", re.MULTILINE)
_OLD_COMMAND = "##["
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|[^\s\u3040-\u30ff\u3400-\u9fff]{1,28}")


def strip_ansi(text: str) -> str:
    """Return the text without terminal codes."""
    return _ANSI.sub("", text)


def strip_controls(text: str) -> str:
    """Return the text as a reader sees it: no terminal codes, no invisible characters, line ends as line feeds."""
    text = _LINE_ENDS.sub("\n", strip_ansi(text))
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in _UNSEEN)


def cut_text(text: str, limit: int) -> str:
    """Return at most about `limit` characters, with the number of those left out."""
    return text if len(text) <= limit else f"{text[:limit].rstrip()} … ({len(text) - limit} more characters)"


def cut_words(text: str, count: int) -> str:
    """Return the first words of the text as one line. A word is bounded; where none are written, two characters are one."""
    line = " ".join(strip_controls(text[: count * 280]).split())
    ends = [word.end() for word in islice(_WORDS.finditer(line), count)]
    short = line[: ends[-1]] if ends else ""
    return short if short == line else f"{short}…"


def one_line(text: str, limit: int = 600) -> str:
    """Return the text as one line without controls, cut at `limit`."""
    return cut_text(" ".join(strip_controls(text[: limit * 20]).split()), limit)


def escape_text(text: str) -> str:
    """Return text that a terminal and a log of Actions only show, whatever it holds. Its lines stay."""
    return _break_commands(JOINER.join(strip_controls(part) for part in text.split(JOINER)))


def escape_line(text: str, limit: int = 2000) -> str:
    """Return the text as one line that a terminal and a log of Actions only show; its indentation stays."""
    first, *rest = strip_controls(text[: limit * 20]).split("\n")
    return _break_commands(cut_text(" ".join((first, *map(str.strip, rest))), limit))


def _break_commands(text: str) -> str:
    return _COMMAND.sub(r"\1 ", text).replace(_OLD_COMMAND, "## [")


def dump_json(value: Any) -> str:
    """Return readable JSON with every character that is not shown written as an escape: the value is the same."""
    text = json.dumps(value, indent=2, ensure_ascii=False).replace(_OLD_COMMAND, r"##\u005b")
    shown = {*text} - {"\n"}  # each character once: a large result has hundreds of thousands
    unseen = [char for char in shown if unicodedata.category(char) in {*_UNSEEN, "Zl", "Zp"}]
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in unseen}) if unseen else text
