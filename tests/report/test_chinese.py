"""The Chinese comment says what the English one says: the same sections, the same lines, the same evidence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest
from backproof.report import render
from checkout import ROOT
from stories import Folder, plan, proved

from tests.report.test_render_comment import ALL, hostile_folder, on_device, told

REPORTS = ROOT / "reports"
SHAPE = re.compile(r"section\(\"\w+\"\)|refs\([^}]*\)|\{% (?:if|for|endif|endfor|else|elif)\b[^%]*%\}")
LANGUAGES: tuple[Literal["en", "zh"], ...] = ("en", "zh")
REFERENCES = re.compile(r"(?:\[e\d+\])+")


def shape(name: str) -> list[str]:
    text = (REPORTS / name).read_text(encoding="utf-8")
    return SHAPE.findall(re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL))


@pytest.mark.parametrize("name", ["comment", "hardware"])
def test_both_templates_have_the_same_shape(name: str) -> None:
    english, chinese = shape(f"{name}.md.j2"), shape(f"{name}.zh.md.j2")
    if name == "comment":  # the verdict's sentence is made in the template, with the level where there is one
        at = chinese.index("{% if run.level is not none %}")
        del chinese[at : at + 2]
    assert chinese == english


def hostile(path: Path) -> Folder:
    return hostile_folder(path, "x\n## y | [e9] <!-- @ann `")


@pytest.mark.parametrize("make", [hostile, on_device, *ALL])
def test_both_comments_rest_on_the_same_evidence_line_by_line(tmp_path: Path, make: Any) -> None:
    folder: Folder = make(tmp_path)
    story = told(folder)
    english, chinese = (render.comment(story, plan(), language=language) for language in LANGUAGES)
    assert REFERENCES.findall(chinese) == REFERENCES.findall(english)
    assert chinese.count("\n- ") == english.count("\n- ")
    assert chinese.count("\n### ") == english.count("\n### ")
    assert re.search(r"[\u4e00-\u9fff]{4}", chinese)


def test_no_english_frame_is_left(tmp_path: Path) -> None:
    text = render.comment(told(proved(tmp_path)), plan(), language="zh")
    for english in ("Backport verification", "not reached", "What landed", "Not run:", "Run it again", "Evidence:"):
        assert english not in text
    assert text.startswith("## 回移验证：")
    assert "等级 2（已仿真）" in text
