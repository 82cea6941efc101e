"""Hostile text, put where the templates put it, parsed back by a CommonMark parser: nothing of it is alive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backproof.core import escape
from backproof.core.plain_text import JOINER, one_line
from hypothesis import example, given
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


def seen(text: str, limit: int = 600) -> str:
    """What a reader should see of it: no joiners, spaces as one."""
    return one_line(text, limit)


@given(HOSTILE)
@example("\\")
@example("@" * 3)
def test_prose_is_one_paragraph_of_plain_text(text: str) -> None:
    tokens = flat(f"{escape.escape_prose(text)}\n\nafter\n")
    kinds = {each.type for each in tokens} - {"text", "inline", "paragraph_open", "paragraph_close", "text_special"}
    assert not kinds
    shown = words(tokens) + words(tokens, "text_special")
    assert not ALIVE.search(words(tokens))
    assert shown.endswith("after")


@given(HOSTILE)
def test_prose_shows_what_was_written(text: str) -> None:
    html = PARSER.render(f"x {escape.escape_prose(text)} y")
    shown = re.sub(r"</?p>", "", html).replace(JOINER, "").strip()
    for entity, char in (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&amp;", "&")):
        shown = shown.replace(entity, char)
    assert shown == f"x {seen(text)} y"


@given(st.lists(HOSTILE, min_size=1, max_size=5))
def test_a_table_keeps_its_columns(cells: list[str]) -> None:
    head = "| " + " | ".join("h" for _ in cells) + " |\n|" + " --- |" * len(cells)
    row = "| " + " | ".join(escape.escape_prose(each) for each in cells) + " |"
    tokens = flat(f"{head}\n{row}\n{row}\n\nafter\n")
    assert sum(each.type == "td_open" for each in tokens) == 2 * len(cells)
    assert not ALIVE.search(words(tokens))
    # Renderers disagree about a backslash before a bar: none is written.
    assert "\\|" not in row.replace("\\\\", "")
    assert row.count("|") == len(cells) + 1


@given(HOSTILE)
def test_code_is_one_span(text: str) -> None:
    tokens = flat(f"- before {escape.format_code_span(text)} after\n")
    spans = [each.content for each in tokens if each.type == "code_inline"]
    assert len(spans) == 1
    assert spans[0].strip() in (seen(text, 200) or "(empty)")
    assert [each.content for each in tokens if each.type == "text"] == ["before ", " after"]


@given(HOSTILE)
def test_a_fence_closes(text: str) -> None:
    tokens = flat(f"before\n\n{escape.format_code_block(text, 'sh')}\n\nafter\n")
    fences = [each for each in tokens if each.type == "fence"]
    assert len(fences) == 1
    assert words(tokens) == "beforeafter"


def test_a_mention_is_broken_by_a_joiner_and_words_stay_readable() -> None:
    assert escape.escape_prose("conv_state of @a fixes #1") == f"conv_state of @{JOINER}a fixes #{JOINER}1"
