"""report.html: one inert file that says the verdict first and its values as text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from backproof.core.model import Finding
from backproof.records.audit import AuditRecord
from backproof.report import render
from hostile_text import HOSTILE, NASTY
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import ATTRIBUTES, TAGS, Reader, page
from run_kinds import ALL, hostile_folder, load_judged
from stories import plan, proved


@pytest.mark.parametrize("make", ALL)
def test_the_page_is_whole_and_needs_nothing(tmp_path: Path, make: Any) -> None:
    text = page(make(tmp_path))
    read = Reader(text)
    assert read.open == []
    assert not read.tags & {"script", "link", "img", "iframe", "object", "base", "form"}
    assert not re.search(r"https?://|url\(|@import", re.sub("(?s)<pre [^>]*>.*?</pre>", "", text))
    assert all(each.startswith("#") and each[1:] in read.ids for each in read.links)
    assert len(read.ids) == len(set(read.ids))


def test_the_verdict_comes_first_and_values_are_text(tmp_path: Path) -> None:
    text = Reader(page(proved(tmp_path))).text
    body = text[text.index("Backproof ·") :]
    assert (
        body.index("PASS at level 2 (emulated)")
        < body.index("In short")
        < body.index("The arms")
        < body.index("The chain of claims")
    )
    assert "24 of 36 steps failed · out-of-range 24" in text
    assert "+x = n" in text
    assert "reused, equal inputs" in text


def test_altered_evidence_is_marked(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    for file in (tmp_path / "validate/base").iterdir():
        file.write_text("else")
    text = Reader(page(folder)).text
    assert text.count("missing or altered") >= 3


@settings(max_examples=15, deadline=None)
@given(st.one_of(HOSTILE, st.just("".join(NASTY))))
def test_hostile_text_adds_no_tag(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    read = Reader(page(hostile_folder(tmp_path_factory.mktemp("run"), text)))
    assert read.open == []
    assert read.tags <= TAGS
    assert read.attributes <= ATTRIBUTES


def test_a_hostile_patch_is_text(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    del folder.stages[1]
    folder.fixup(patch="+</pre><script>alert(1)</script>\n+\x1b[31mred\x00\n")
    made = page(folder)
    assert "<script" not in made
    assert "+&lt;/pre&gt;&lt;script&gt;" in made
    assert "+red" in made


def test_drift_is_told_in_the_doctors_words(tmp_path: Path) -> None:
    versions = {"torch": "2.10.0", "Triton": "3.6", "torch_npu": "2.10.0"}
    text = Reader(render.render_page(load_judged(proved(tmp_path)), plan(baseline={"versions": versions}))).text
    assert "A deviation from what the release was validated with is not a cause." in text
    for name, expected, found, verdict in (
        ("torch", "2.10.0", "2.13.0", "newer"),
        ("Triton", "3.6", "3.6.0", "same"),
        ("torch_npu", "2.10.0", "not read", "not read"),
        ("python", "not said", "3.11.7", "no baseline"),
    ):
        assert re.search(rf"{name}{re.escape(expected)}{re.escape(found)}{verdict}", text)


def test_what_the_pull_request_was_asked_for_is_on_the_page(tmp_path: Path) -> None:
    folder = proved(tmp_path)
    finding = Finding(severity="warning", text="marked resolved and not in the head", where="pkg/rows.py:4")
    facts = {
        "repo": "example/project",
        "pull": 7,
        "title": "x",
        "head": "a" * 40,
        "limits": ("checks, which take a token",),
    }
    record = AuditRecord.model_validate({**facts, "findings": (finding,)})
    folder.stage("audit", evidence=(folder.record("audit", record),))
    text = Reader(page(folder)).text
    assert "marked resolved and not in the head pkg/rows.py:4" in text
    assert "Not looked at: checks, which take a token" in text
