"""What of a comment is visible before anything is opened, and how much that is."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]*\w[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]*")


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of the visible part.

    Args:
        words: separated by blanks or bars of a table; one with neither a letter nor a digit does not count.
        characters: as word processors count Chinese: each Han character, and each word of another script.
        rows: of tables, without their heads.
        marks: references such as [e12].
        details: foldable parts.
    """

    words: int
    characters: int
    rows: int
    tables: int
    marks: int
    details: int


def visible_part(text: str) -> str:
    """Return the text without what is folded; a part that is opened and not closed would hide the rest."""
    opened, closed = (len(re.findall(rf"(?m)^{tag}$", text)) for tag in ("<details>", "</details>"))
    assert opened == closed
    return re.sub(r"(?ms)^<details>$.*?^</details>$", "", text)


def measure_comment(text: str) -> Size:
    shown = visible_part(text)
    plain = shown.replace("|", " ")
    lines = shown.splitlines()
    tables = sum(line.startswith("| ---") for line in lines)
    return Size(
        words=sum(bool(re.search(r"\w", word)) for word in plain.split()),
        characters=len(_HAN.findall(plain)) + len(_WORD.findall(_HAN.sub(" ", plain))),
        rows=sum(line.startswith("|") for line in lines) - 2 * tables,
        tables=tables,
        marks=len(re.findall(r"\[e\d+\]", text)),
        details=len(re.findall(r"(?m)^<details>$", text)),
    )
