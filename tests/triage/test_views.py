"""Views: hostile text stays text, and the JSON is what the documentation says."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from backproof.triage import TriageResult, cell_tables, markdown, terminal, triage
from checkout import ROOT
from hypothesis import given
from hypothesis import strategies as st
from log_stories import read_stories
from markdown_it import MarkdownIt
from rich.console import Console

HOSTILE = "</table><script>x</script> @everyone #1 ``` | [a](http://evil) \x1b]0;title\x07 \x1b[2J"
SAMPLES = Path(__file__).parent / "samples"
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


def hostile(tmp_path: Path) -> TriageResult:
    line = f"[ERROR] RUNTIME(7,):2027-02-14-10:00:00.000.001 [stars_engine.cc:1]8 ProcLogicCqReport:Task run failed, device_id=1, stream_id=2, task_id=3, sqe_type=0(ffts), errType=0x1(task exception), fault kernel_name={HOSTILE}\n"
    (tmp_path / "a @b `c` | <d>.log").write_text(line, encoding="utf-8")
    return triage([tmp_path])


@given(st.text(max_size=80))
def test_a_code_span_cannot_be_left(text: str) -> None:
    tokens = MARKDOWN.parseInline(markdown.format_code(text))[0].children or []
    assert [token.type for token in tokens] == ["code_inline"]


def test_markdown_of_hostile_logs_has_no_markup(tmp_path: Path) -> None:
    text = markdown.render_markdown(hostile(tmp_path))
    inline = [child for token in MARKDOWN.parse(text) for child in token.children or []]
    assert not [token.type for token in inline if token.type in {"html_inline", "link_open", "image"}]
    assert not [token for token in MARKDOWN.parse(text) if token.type == "html_block"]
    assert all("everyone" not in token.content for token in inline if token.type == "text")
    assert "aicore" in text


def test_terminal_moves_no_cursor(tmp_path: Path) -> None:
    out = io.StringIO()
    terminal.print_result(hostile(tmp_path), Console(file=out, width=200, no_color=True))
    assert "\x1b" not in out.getvalue()
    assert "\x07" not in out.getvalue()
    assert "aicore" in out.getvalue()


def test_every_story_renders(tmp_path: Path) -> None:
    for story in read_stories():
        folder = tmp_path / story.name
        story.write_files(folder)
        result = triage([folder])
        out = io.StringIO()
        terminal.print_result(result, Console(file=out, width=120))
        first = result.first_fault
        for text in (markdown.render_markdown(result), out.getvalue().replace("\n", "")):
            assert (first is None) or first.kind in text


@pytest.mark.parametrize("folder", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_ten_lines_end_the_screen_and_none_is_empty(folder: Path) -> None:
    result = triage([folder])
    lines = cell_tables.summarize(result)
    assert 1 < len(lines) <= 10
    assert all(name and text.strip() for name, text in lines)
    out = io.StringIO()
    terminal.print_result(result, Console(file=out, width=10_000), everything=True)
    printed = out.getvalue().splitlines()
    assert len(printed) > len(lines)
    assert [line.split()[0] for line in printed[-len(lines) :]] == [name.split()[0] for name, _ in lines]


def test_the_person_on_call_reads_what_where_and_what_next(tmp_path: Path) -> None:
    """The story of the post-mortem in a few lines, the decoded numbers and the joined task with them."""
    lines = dict(cell_tables.summarize(triage([SAMPLES / "26-notify-wait-pointer"])))
    assert lines["points at"].startswith("task 12 of sq 58: plog-1295")
    assert "device" in lines["where"]
    assert set(lines) >= {"first fault", "what", "line", "since", "next"}
    peer = dict(cell_tables.summarize(triage([SAMPLES / "47-rank-never-connected"])))
    assert (peer["peer"], peer["next"][:30]) == ("rank 3", "There is no log of rank 3 here")
    stack = dict(cell_tables.summarize(triage([SAMPLES / "49-host-keyerror-server-dies"])))
    assert stack["stack"] == "/opt/vllm/model_loader/loader.py:412 in load_weights"
    assert "KeyError: 'layers.3.mlp.gate_up_proj.weight_scale'" in stack["what"]
    assert any("clock is 8.1 h ahead" in note for note in triage([SAMPLES / "33-hwts-only-two-zones"]).notes)


def test_json_goes_round(tmp_path: Path) -> None:
    result = hostile(tmp_path)
    text = result.model_dump_json()
    assert TriageResult.model_validate_json(text) == result
    top = json.loads(text)
    assert top["schema_version"] == 2
    assert set(top["first_fault"]) >= {"file", "line", "kind"}
    documented = (ROOT / "docs" / "triage.md").read_text("utf-8")
    assert [name for name in TriageResult.model_fields if f"`{name}`" not in documented] == []
