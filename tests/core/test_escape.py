"""Hostile text, put where the templates put it, parsed back by a CommonMark parser: nothing of it is alive."""

from __future__ import annotations

import re

from backproof.core import escape
from backproof.core.plain_text import JOINER, one_line
from hostile_text import ALIVE, HOSTILE, PARSER, flat, words
from hypothesis import example, given
from hypothesis import strategies as st


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
