"""The last screen of a run: it fits 80 columns and 24 lines, and has the verdict, what to do, and the files."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from backproof.report import render
from backproof.report.catalogue import LANGUAGES, Language
from full_runs import full
from plain_job import PlainJob, make_job
from rich.console import Console
from rich.text import Text
from run_kinds import ALL, load_judged, on_device
from stories import plan
from terminal import record_session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> PlainJob:
    return make_job(tmp_path_factory.mktemp("screen") / "job")


def run_in_terminal(job: PlainJob, *more: str, **env: str) -> list[str]:
    command = ["backproof", *job.arguments(), *more]
    session = record_session(command, cwd=job.folder, env=job.environment(**env))
    assert session.code == 0, session.written
    assert re.search(r"\d\d:\d\d( of about \d\d:\d\d)?  (install|verify|validate)", session.written)
    return [line for line in session.screen if line]


def test_a_run_ends_with_what_counts_on_one_screen(job: PlainJob) -> None:
    screen = run_in_terminal(job)
    assert screen[0].startswith("Pull request 5 on release: what fails without it passes with it, in 1 check.")
    assert "Level 2 of 4, checked on a CPU: not shown on a device." in screen
    assert any(line.startswith("Without it: ") for line in screen)
    assert any(line.startswith("Asked of you: land limit, too: a review asked for it") for line in screen)
    assert "    LIMIT = 42" in screen
    assert "comment.md, report.html, junit.xml, run.json" in " ".join(screen[-3:])
    assert not any("| ---" in line or "**" in line for line in screen)
    again = run_in_terminal(job, LANG="zh_CN.UTF-8")
    assert again[0].startswith("合入请求 5（release）：1 项检查，没有它时失败，有它时通过。")
    comment = job.backproof(*job.arguments(), "--print").stdout
    assert comment == (job.run_folder / "comment.md").read_text()


def test_the_path_of_the_run_is_whole_however_narrow_the_output_is(job: PlainJob) -> None:
    done = job.backproof(*job.arguments(), COLUMNS="30")
    assert f"{job.run_folder}:" in done.stdout.splitlines()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("make", [full, on_device, *ALL])
def test_every_kind_of_run_fits_the_screen(tmp_path: Path, make: Any, language: Language) -> None:
    text = render.render_screen(load_judged(make(tmp_path)), plan(), language=language)
    console = Console(width=80, file=io.StringIO())
    assert len(Text(text).wrap(console, 80)) < 24
    assert "`" not in text
    assert "run.json" in text.splitlines()[-1]


def test_a_run_that_failed_says_what_went_wrong_and_what_to_do(tmp_path: Path) -> None:
    text = render.render_screen(load_judged(full(tmp_path)), plan())
    assert "FAIL: the backport does not hold." in text
    assert "Asked of you: do not merge it as it is." in text
    assert "bob asked for x = n" in text


def test_the_language_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from backproof.commands.options import choose_language

    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert choose_language() == "en"
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert choose_language() == "zh"
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert choose_language() == "en"
