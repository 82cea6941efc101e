"""What a review comment asks for: suggestion blocks, code that its prose names, or only words. Pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backproof.upstream.audit.landing import parse_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]{3,200})`(?!`)")
_HTML = re.compile(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)", re.DOTALL)
_LONGEST = 20_000
_MOST = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """One thing asked for. `code` is what would stand there; '' for words."""

    kind: Literal["suggestion", "named-code", "prose"]
    code: str
    prose: str


def parse_wishes(body: str) -> tuple[Wish, ...]:
    """The suggestion blocks of a comment; else the code it names; else its words."""
    text = body.replace("\r\n", "\n")[:_LONGEST]
    prose = " ".join(_HTML.sub(" ", _FENCE.sub(" ", text)).split())
    if suggested := [found[3] for found in _FENCE.finditer(text) if found[2] == "suggestion"]:
        return tuple(Wish(kind="suggestion", code=item, prose=prose) for item in suggested[:_MOST])
    if named := list(dict.fromkeys(_find_named(text))):
        return tuple(Wish(kind="named-code", code=item, prose=prose) for item in named[:_MOST])
    return (Wish(kind="prose", code="", prose=prose),) if prose else ()


def _find_named(text: str) -> Iterator[str]:
    """Code that does something, so that its absence says something: a bare name or path does not."""
    blocks = [found[3] for found in _FENCE.finditer(text) if found[2] in {"", "py", "python", "python3"}]
    spans = [found[1] for found in _SPAN.finditer(_FENCE.sub(" ", text))]
    for block in (*blocks, *spans):
        dumps = parse_statements(block)
        if dumps and any(word in dump for dump in dumps for word in ("Call(", "Assign(", "AugAssign(")):
            yield block.strip("\n")
