"""What stands in the comment before anything is opened can be read in half a minute, whatever the run was."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pytest
from backproof.core.model import Arm, Outcome
from backproof.report import render
from backproof.report.catalogue import LANGUAGES, Language
from checkout import ROOT, TESTS
from comment_size import measure_comment, visible_part
from full_runs import full
from hostile_text import HOSTILE
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from kit_runs import run_as_planned
from run_kinds import ALL, hostile_folder, load_judged, on_device
from stories import Folder, case, plan, proved

from tests.verdict.test_levels import served_run

if TYPE_CHECKING:
    from pathlib import Path

KITS = sorted(file.parent for file in (ROOT / "patches").glob("*/plan.toml"))
GOLDEN = TESTS / "report" / "golden"
LINKS = render.Links(page="https://example.org/page", bundle="https://example.org/run.tar.gz", sha256="f" * 64)


def assert_short(text: str) -> None:
    size = measure_comment(text)
    assert size.words <= 250
    assert size.characters <= 450
    assert size.rows <= 5
    assert size.tables <= 1
    assert size.marks == 0
    assert size.details <= 3


def test_the_measure_sees_words_rows_marks_and_folds() -> None:
    text = "**one** two: — `three`\n| a | b |\n| --- | --- |\n| 1 of 2 | [e3] |\n<details>\nx y\n</details>\n"
    size = measure_comment(text)
    assert (size.words, size.rows, size.tables, size.marks, size.details) == (9, 1, 1, 1, 1)
    assert measure_comment("请先比对 `git diff`，再合入。").characters == 9
    with pytest.raises(AssertionError):
        visible_part("<details>\nnever closed")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kit", KITS, ids=lambda kit: kit.name)
def test_the_comment_of_each_kit_is_short_and_the_golden_one(tmp_path: Path, kit: Path, language: Language) -> None:
    folder, its_plan = run_as_planned(kit, tmp_path)
    loaded = load_judged(folder)
    assert loaded.run.outcome is Outcome.PASS
    text = render.render_comment(loaded, its_plan, language=language, links=LINKS)
    assert_short(text)
    golden = GOLDEN / f"comment-kit-{kit.name}.{language}.md"
    text = re.sub(r"\b[0-9a-f]{64}\b", "SHA256", text)
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", [full, on_device, served_run, *ALL])
def test_the_comment_of_each_kind_of_run_is_short(tmp_path: Path, make: Any, language: Language) -> None:
    assert_short(render.render_comment(load_judged(make(tmp_path)), plan(), language=language, links=LINKS))


WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
WORDY = st.one_of(HOSTILE, st.just("many words " * 200), st.just("字" * 2000), st.just("x" * 5000)).map(
    lambda text: text.encode("utf-8", "replace").decode()
)
OBSERVED = st.sampled_from(["pass", "fail", "fault:silent", "fault:out-of-range", "error"])


def draw_run(draw: Any) -> dict[str, Any]:
    """Any number of checks and models, each arm with any outcome, and words without end wherever words are free."""
    checks = [f"check-{index}" for index in range(draw(st.integers(0, 9)))]
    models = [f"model-{index}" for index in range(draw(st.integers(1, 3)))]
    cases = [
        case(
            model,
            arm,
            observed := draw(OBSERVED),
            check=check,
            role=draw(st.sampled_from(["proof", "guard", "limit"])),
            first="" if observed == "pass" else draw(WORDY),
        )
        for check in checks
        for model in models
        for arm in Arm
    ]
    expect = {"raw": {"base": "fail", "pick": "pass", "fixed": "pass"}}
    table = [{"id": check, "file": "c.py", "claim": draw(WORDY).strip() or "x", "expect": expect} for check in checks]
    return {"cases": cases, "check": table, "text": draw(WORDY), "outcome": draw(st.sampled_from(list(Outcome)))}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), phases=WITHOUT_SHRINKING)
@given(data=st.data(), language=st.sampled_from(LANGUAGES))
def test_no_run_makes_the_comment_long(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, language: Language
) -> None:
    path, run = tmp_path_factory.mktemp("run"), draw_run(data.draw)
    text = run["text"]
    folder = Folder(path)
    folder.pick(commit={"dropped": (text,) * 30, "reconstructed": True})
    folder.fixup()
    folder.verify()
    folder.validate(run["cases"], run["outcome"], facts={text: text})
    changes = {"check": run["check"]} if run["check"] else {}
    assert_short(render.render_comment(load_judged(folder), plan(**changes), language=language, links=LINKS))
    assert_short(
        render.render_comment(load_judged(hostile_folder(path / "2", text)), plan(), language=language, links=LINKS)
    )


def test_the_comment_says_first_what_was_proved_of_what_and_what_it_is_not(tmp_path: Path) -> None:
    text = render.render_comment(load_judged(proved(tmp_path)), plan())
    first, _, rest = text.partition("\n")
    assert first.startswith("**Pull request 7 on `release/1` is not enough alone. With 1 fix-up on top,")
    assert "Level 2 of 4, emulated: not shown on a device." in rest
    assert "Not fixed by it: 1 declared limit." in rest
    assert "| rows are right | 72 of 144 fail |" in rest


def test_links_are_there_where_they_are_known(tmp_path: Path) -> None:
    loaded = load_judged(proved(tmp_path))
    assert "](" not in render.render_comment(loaded, plan())
    text = render.render_comment(loaded, plan(), links=LINKS)
    assert "[Report](https://example.org/page)" in text
    assert f"[Evidence](https://example.org/run.tar.gz), SHA-256 `{'f' * 64}`" in text
    hostile = render.Links(page="https://x/) [y](javascript:z) <a", bundle="javascript:alert(1)")
    text = render.render_comment(loaded, plan(), links=hostile)
    assert "javascript:" not in text.replace("%5By%5D%28javascript:z%29", "")
    assert "(https://x/%29%20%5By%5D%28javascript:z%29%20%3Ca)" in text
