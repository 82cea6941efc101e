"""Hostile text, and what of it would be alive in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
ALIVE = re.compile(r"@\w|#\w|\bgh-\d|https?://|ftp://|www\.", re.IGNORECASE)
NASTY = (
    "<script>alert(1)</script>",
    "<!-- a",
    "@octocat please see #12 and example/project#3 and GH-4",
    "https://example.org www.example.org mailto:a@example.org",
    "a | b \\| c \\",
    "`code` ``two`` ```",
    "```\n# out\n```",
    "# heading",
    "- item\n- item",
    "1. one",
    "+ [ ] task",
    "---",
    "===",
    "> quote",
    "    indented",
    "[a](javascript:alert(1)) ![i](x) [r][1]\n[1]: http://x",
    "*a* **b** __c__ _d_ ~~e~~ $x$ $$y$$",
    "&amp; &#35; &commat;user",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b1m",
    "\u202eright\u200b\u2066\ufeff",
    "\x1everdict\x1f",
    "a\u2028b\u0085c\x0bd\re",
    "<details>\n\n</details>",
    "\ud800",
    ":tada: ::warning:: ::set-output name=a::b",
    "=1+1",
)
LETTERS = st.sampled_from(list("`|\\<>[]()*_~#@-+=!&;:/.$ \t\n\r\x1b\x00\u200b\u202e1aZgGhHw"))
HOSTILE = st.one_of(st.sampled_from(NASTY), st.text(), st.text(LETTERS), st.lists(st.sampled_from(NASTY)).map("".join))


def flat(text: str) -> list[Token]:
    """All tokens of a text, those inside lines too."""
    return [inner for each in PARSER.parse(text) for inner in (each, *(each.children or ()))]


def words(tokens: list[Token], kind: str = "text") -> str:
    return "".join(each.content for each in tokens if each.type == kind)
