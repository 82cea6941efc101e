"""A run of the published release claims no branch that was not read, and no hash of a commit that nobody else has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backproof.report import render
from backproof.report.catalogue import LANGUAGES
from backproof.report.junit import render_junit
from backproof.report.view import RunView
from run_kinds import load_judged
from stories import BASE, FIXED, PICKED, SOURCE, plan, proved

if TYPE_CHECKING:
    from pathlib import Path

NAME = "project 1.0rc2 as published"


def write_all(folder: Path, *, published: bool) -> dict[str, str]:
    """Everything that is told of a run, by what it is called."""
    loaded = load_judged(proved(folder, published=published))
    told = {f"comment.{language}": render.render_comment(loaded, plan(), language=language) for language in LANGUAGES}
    told |= {f"screen.{language}": render.render_screen(loaded, plan(), language=language) for language in LANGUAGES}
    # Files of the evidence are quoted as they are.
    page = re.sub(r"<pre.*?</pre>", "", render.render_page(loaded, plan()), flags=re.DOTALL)
    return {**told, "page": page, "junit": render_junit(RunView(loaded=loaded))}


def test_nothing_claims_a_branch_or_a_hash(tmp_path: Path) -> None:
    told = write_all(tmp_path / "published", published=True)
    for name, text in told.items():
        assert "release/1" not in text, name
        assert not [sha for sha in (BASE, PICKED, FIXED, SOURCE) if sha[:12] in text], name
    assert NAME in told["comment.en"].splitlines()[0]
    assert "project 1.0rc2 发布版" in told["comment.zh"].splitlines()[0]
    assert "was not read" in told["comment.en"]
    assert "was not read" in told["page"]


def test_a_run_of_a_branch_claims_both(tmp_path: Path) -> None:
    told = write_all(tmp_path / "branch", published=False)
    assert "release/1" in told["comment.en"].splitlines()[0]
    assert BASE in told["comment.en"]
    assert BASE in told["page"]
